/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/gnuplot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

struct gnuplot {
    pid_t pid;
    FILE *script;
    struct picture picture;
    char folder[PATH_MAX];
    char destination[PATH_MAX];
    struct sigaction old_pipe; /* what SIGPIPE did before */
};

static const char complaint_name[] = "complaint.txt";
static const char picture_name[] = "picture.out";

/* The pieces of a terminal command; sizes are in the format's own unit. */
static const struct {
    const char *ending;
    const char *terminal[2]; /* the first that this gnuplot has is taken */
    double per_pixel;        /* size unit per 1/96 inch */
    const char *unit;
    double font;    /* size in pixels of 1/96 inch */
    double leading; /* distance of gnuplot's lines there, in sizes of the font */
    double point;   /* size unit of the font per pixel */
    const char *family;
    const char *options;
} formats[] = {
    [PICTURE_PNG] =
        {".png", {"pngcairo", "png"}, 1.0, "", 16, 1.2, 0.75, "DejaVu Sans", "linewidth 1.4"},
    [PICTURE_SVG] = {".svg",
                     {"svg", NULL},
                     1.0,
                     "",
                     14,
                     1.5,
                     1.0,
                     "DejaVu Sans,Verdana,Arial,sans-serif",
                     "linewidth 1.2 background '#ffffff'"},
    [PICTURE_PDF] = {".pdf",
                     {"pdfcairo", NULL},
                     1.0 / 96.0,
                     "in",
                     13.3,
                     1.2,
                     0.75,
                     "DejaVu Sans",
                     "linewidth 1.2"},
};

/* Okabe and Ito's colours (line types 1-7), the perceptual map viridis, plain axes. */
static const char style_commands[] =
    "set encoding utf8\n"
    "set linetype 1 lc rgb '#0072b2' lw 1.6 pt 7 ps 0.7\n"
    "set linetype 2 lc rgb '#d55e00' lw 1.6 pt 5 ps 0.7\n"
    "set linetype 3 lc rgb '#009e73' lw 1.6 pt 9 ps 0.8\n"
    "set linetype 4 lc rgb '#cc79a7' lw 1.6 pt 11 ps 0.8\n"
    "set linetype 5 lc rgb '#e69f00' lw 1.6 pt 13 ps 0.9\n"
    "set linetype 6 lc rgb '#56b4e9' lw 1.6 pt 4 ps 0.7\n"
    "set linetype 7 lc rgb '#000000' lw 1.6 pt 6 ps 0.7\n"
    "set linetype cycle 7\n"
    "set palette defined (0 '#440154', 1 '#472d7b', 2 '#3b528b', 3 '#2c728e', 4 '#21918c', "
    "5 '#28ae80', 6 '#5ec962', 7 '#addc30', 8 '#fde725')\n"
    "set tics out nomirror\n"
    "set border lw 0.8\n"
    "set grid lt 1 lc rgb '#dcdcdc' lw 0.5\n"
    "set autoscale noextend\n"
    "set key top right samplen 2 spacing 1.15 opaque noautotitle\n"
    "set output 'picture.out'\n";

int picture_format_of(const char *path, enum picture_format *out)
{
    const char *dot = strrchr(path, '.');
    for (int i = 0; i < (int)(sizeof formats / sizeof formats[0]); i++) {
        if (dot != NULL && strcasecmp(dot, formats[i].ending) == 0) {
            *out = (enum picture_format)i;
            return 0;
        }
    }
    FAIL(ERR_ARGUMENT,
         "%s: cannot tell the picture's format; a name that ends in .png, .svg or "
         ".pdf is wanted",
         path);
}

enum { FONT_LEAST = 11 }; /* still read without effort */

double picture_font(const struct picture *picture)
{
    enum picture_format format = PICTURE_PNG;
    if (picture_format_of(picture->path, &format) != 0)
        format = PICTURE_PNG;
    const double size = fmin(picture->width / 1000.0, picture->height / 600.0);
    return fmax(FONT_LEAST, formats[format].font * fmin(1, size));
}

const struct picture *gnuplot_picture(const struct gnuplot *gnuplot)
{
    return &gnuplot->picture;
}

double picture_line(const struct picture *picture)
{
    enum picture_format format = PICTURE_PNG;
    if (picture_format_of(picture->path, &format) != 0)
        format = PICTURE_PNG;
    return formats[format].leading * picture_font(picture);
}

double gnuplot_font(const struct gnuplot *gnuplot, double times)
{
    enum picture_format format = PICTURE_PNG;
    if (picture_format_of(gnuplot->picture.path, &format) != 0)
        format = PICTURE_PNG;
    return times * picture_font(&gnuplot->picture) * formats[format].point;
}

static void remove_folder(const char *folder)
{
    DIR *directory = opendir(folder);
    if (directory == NULL)
        return;
    const int fd = dirfd(directory);
    for (const struct dirent *entry = readdir(directory); entry != NULL;
         entry = readdir(directory))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(fd, entry->d_name, 0);
    closedir(directory);
    rmdir(folder);
}

static int make_folder(char folder[PATH_MAX])
{
    const char *base = getenv("TMPDIR");
    if (base == NULL || base[0] == '\0')
        base = "/tmp";
    if (snprintf(folder, PATH_MAX, "%s/scanfarm-plot-XXXXXX", base) >= PATH_MAX)
        FAIL(ERR_IO, "TMPDIR is too long: %zu bytes", strlen(base));
    if (mkdtemp(folder) == NULL)
        FAIL(ERR_IO, "cannot make a temporary folder in %s: %s (TMPDIR names another place)",
             base, strerror(errno));
    return 0;
}

/* A picture that cannot be written is found before anything is computed. */
static int check_destination(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const int length = slash == NULL ? 1 : slash == path ? 1 : (int)(slash - path);
    snprintf(folder, sizeof folder, "%.*s", length, slash == NULL ? "." : path);
    if (access(folder, W_OK | X_OK) != 0)
        FAIL(ERR_IO, "cannot write %s: %s: %s", path, folder, strerror(errno));
    return 0;
}

static int spawn(struct gnuplot *g, int input)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_addchdir_np(&actions, g->folder);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, complaint_name,
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    char name[] = "gnuplot";
    char defaults_option[] = "-d";
    char *arguments[] = {name, defaults_option, NULL};
    const int rc = posix_spawnp(&g->pid, name, &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (rc == ENOENT)
        FAIL(ERR_DEVICE, "gnuplot is not on the PATH: plot needs it (Debian, Ubuntu: apt-get "
                         "install gnuplot-nox)");
    if (rc != 0)
        FAIL(ERR_DEVICE, "cannot start gnuplot: %s", strerror(rc));
    return 0;
}

static int start(struct gnuplot *g)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        FAIL(ERR_IO, "cannot make a pipe: %s", strerror(errno));
    const int rc = spawn(g, ends[0]);
    close(ends[0]);
    if (rc != 0) {
        close(ends[1]);
        return rc;
    }
    g->script = fdopen(ends[1], "w");
    if (g->script == NULL) {
        close(ends[1]);
        FAIL(ERR_IO, "cannot write to gnuplot: %s", strerror(errno));
    }
    return 0;
}

/* Choose the first terminal that this gnuplot has; none: gnuplot says so and ends. */
static void set_terminal(struct gnuplot *g, const struct picture *picture,
                         enum picture_format format)
{
    const double scale = formats[format].per_pixel;
    fprintf(g->script, "have = ''\n");
    for (int i = 0; i < 2 && formats[format].terminal[i] != NULL; i++)
        fprintf(g->script,
                "if (have eq '' && strstrt(' '.GPVAL_TERMINALS.' ', ' %s ') > 0) have = '%s'\n",
                formats[format].terminal[i], formats[format].terminal[i]);
    fprintf(g->script, "if (have eq '') exit error 'this gnuplot has no terminal for %s'\n",
            formats[format].ending);
    fprintf(g->script, "set terminal @have noenhanced size %.6g%s,%.6g%s font '%s,%.3g' %s\n",
            picture->width * scale, formats[format].unit, picture->height * scale,
            formats[format].unit, formats[format].family, gnuplot_font(g, 1),
            formats[format].options);
    fputs(style_commands, g->script);
}

int gnuplot_open(const struct picture *picture, struct gnuplot **out)
{
    *out = NULL;
    enum picture_format format = PICTURE_PNG;
    TRY(picture_format_of(picture->path, &format));
    TRY(check_destination(picture->path));
    struct gnuplot *g = NULL;
    TRY(mem_alloc(1, sizeof *g, (void **)&g));
    int rc = 0;
    g->picture = *picture;
    /* gnuplot may end before it read everything: then a write fails, it must not kill us */
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, &g->old_pipe);
    if (snprintf(g->destination, PATH_MAX, "%s", picture->path) >= PATH_MAX)
        TRY_OR(rc, done, status_fail(ERR_ARGUMENT, "the picture's name is too long"));
    TRY_OR(rc, done, make_folder(g->folder));
    TRY_OR(rc, done, start(g));
    set_terminal(g, picture, format);
    *out = g;
    return 0;
done:
    gnuplot_abandon(g);
    return rc;
}

FILE *gnuplot_script(struct gnuplot *gnuplot)
{
    return gnuplot->script;
}

int gnuplot_data(struct gnuplot *gnuplot, const char *name, FILE **out)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", gnuplot->folder, name);
    *out = fopen(path, "we");
    if (*out == NULL)
        FAIL(ERR_IO, "cannot write %s: %s", path, strerror(errno));
    return 0;
}

int gnuplot_data_close(FILE *file, const char *name)
{
    const int bad = ferror(file);
    if (fclose(file) != 0 || bad)
        FAIL(ERR_IO, "cannot write the temporary file %s: %s (TMPDIR names another place)",
             name, strerror(errno));
    return 0;
}

void gnuplot_text(struct gnuplot *gnuplot, const char *text)
{
    fputc('\'', gnuplot->script);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\'')
            fputc('\'', gnuplot->script);
        fputc((unsigned char)*c < ' ' || *c == 127 ? ' ' : *c, gnuplot->script);
    }
    fputc('\'', gnuplot->script);
}

/* gnuplot's first complaint, without the echo of the command and the caret below it. */
static void read_complaint(const struct gnuplot *g, char *text, size_t size)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", g->folder, complaint_name);
    snprintf(text, size, "no message");
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return;
    char line[300];
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        const char *start = line + strspn(line, " \t^");
        if (*start == '\0' || strstr(start, "warning") != NULL)
            continue;
        snprintf(text, size, "%s", start);
        if (strstr(start, "line ") != NULL)
            break;
    }
    fclose(file);
}

static int copy_stream(int from, int to)
{
    char buffer[65536];
    for (ssize_t got = read(from, buffer, sizeof buffer); got != 0;
         got = read(from, buffer, sizeof buffer)) {
        if (got < 0)
            return -1;
        for (ssize_t sent = 0; sent < got;) {
            const ssize_t n = write(to, buffer + sent, (size_t)(got - sent));
            if (n < 0)
                return -1;
            sent += n;
        }
    }
    return 0;
}

/* The temporary folder may be on another file system: copy beside the destination, then rename.
 */
static int move_picture(const struct gnuplot *g, const char *from)
{
    char beside[PATH_MAX + 16];
    snprintf(beside, sizeof beside, "%s.XXXXXX", g->destination);
    const int in = open(from, O_RDONLY | O_CLOEXEC);
    const int out = mkstemp(beside);
    int bad = in < 0 || out < 0 || copy_stream(in, out) != 0;
    int cause = errno;
    if (in >= 0)
        close(in);
    if (out >= 0) {
        const mode_t mask = umask(0);
        umask(mask);
        fchmod(out, 0666 & ~mask);
        if (close(out) != 0 && !bad) {
            bad = 1;
            cause = errno;
        }
        if (!bad && rename(beside, g->destination) != 0) {
            bad = 1;
            cause = errno;
        }
        if (bad)
            unlink(beside);
    }
    if (bad)
        FAIL(ERR_IO, "cannot write %s: %s", g->destination, strerror(cause));
    return 0;
}

static void clear(struct gnuplot *g)
{
    if (g->folder[0] != '\0')
        remove_folder(g->folder);
    sigaction(SIGPIPE, &g->old_pipe, NULL);
    mem_free(g);
}

static int wait_for(pid_t pid)
{
    int state = 0;
    while (waitpid(pid, &state, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

static int finish(struct gnuplot *g)
{
    fprintf(g->script, "\nunset output\n");
    fclose(g->script); /* a write that failed shows in gnuplot's exit status */
    g->script = NULL;
    const int code = wait_for(g->pid);
    g->pid = 0;
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", g->folder, picture_name);
    struct stat facts = {0};
    if (code != 0 || stat(path, &facts) != 0 || facts.st_size == 0) {
        char text[300];
        read_complaint(g, text, sizeof text);
        FAIL(ERR_DEVICE, "gnuplot failed (exit code %d): %s", code, text);
    }
    return move_picture(g, path);
}

int gnuplot_close(struct gnuplot *gnuplot)
{
    const int rc = finish(gnuplot);
    clear(gnuplot);
    return rc;
}

void gnuplot_abandon(struct gnuplot *gnuplot)
{
    if (gnuplot == NULL)
        return;
    if (gnuplot->pid > 0)
        kill(gnuplot->pid, SIGKILL);
    if (gnuplot->script != NULL)
        fclose(gnuplot->script);
    if (gnuplot->pid > 0)
        wait_for(gnuplot->pid);
    clear(gnuplot);
}
