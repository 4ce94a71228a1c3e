/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/plot_map.h"

#include <math.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"

enum { EVEN_ROWS = 256 };

int plot_map_init(struct plot_map *map, struct plot_window x, long rows, const double *z)
{
    *map = (struct plot_map){.x = x, .rows = rows, .z = z};
    return MEM_NEW(rows * PLOT_MAP_PIXELS, &map->db);
}

void plot_map_clear(struct plot_map *map)
{
    mem_free(map->db);
    *map = (struct plot_map){0};
}

void plot_map_row(struct plot_map *map, long row, long n, const double *x, const double *y,
                  double top)
{
    double *db = map->db + row * PLOT_MAP_PIXELS;
    plot_resample(n, x, y, map->x, PLOT_MAP_PIXELS, db);
    for (long p = 0; p < PLOT_MAP_PIXELS; p++)
        db[p] = db[p] > 0 ? 10 * log10(db[p] / top) : (double)-INFINITY;
}

static bool is_even(const struct plot_map *map)
{
    const double step = (map->z[map->rows - 1] - map->z[0]) / (double)(map->rows - 1);
    for (long r = 1; r < map->rows; r++)
        if (fabs(map->z[r] - map->z[r - 1] - step) > bound(BOUND_even_axis) * step)
            return false;
    return true;
}

/* One pixel of a row at any position between the first and the last plane. */
static double between(const struct plot_map *map, long below, double part, long pixel,
                      double floor)
{
    const double *row = map->db + below * PLOT_MAP_PIXELS;
    const double low = fmax(row[pixel], floor);
    if (part == 0)
        return low;
    return low + part * (fmax(row[PLOT_MAP_PIXELS + pixel], floor) - low);
}

static void write_row(const struct plot_map *map, FILE *out, double z, long *below,
                      double floor)
{
    while (*below < map->rows - 2 && map->z[*below + 1] <= z)
        ++*below;
    const double gap = map->z[*below + 1] - map->z[*below];
    const double part = gap > 0 ? fmin(1, fmax(0, (z - map->z[*below]) / gap)) : 0;
    float line[PLOT_MAP_PIXELS];
    for (long p = 0; p < PLOT_MAP_PIXELS; p++)
        line[p] = (float)between(map, *below, part, p, floor);
    fwrite(line, sizeof *line, PLOT_MAP_PIXELS, out);
}

int plot_map_write(const struct plot_map *map, struct gnuplot *gnuplot, const char *name,
                   double floor)
{
    FILE *out = NULL;
    const long rows = is_even(map) ? map->rows : EVEN_ROWS;
    const double first = map->z[0];
    const double step = (map->z[map->rows - 1] - first) / (double)(rows - 1);
    long below = 0;
    TRY(gnuplot_data(gnuplot, name, &out));
    for (long r = 0; r < rows; r++)
        write_row(map, out, first + step * (double)r, &below, floor);
    TRY(gnuplot_data_close(out, name));
    const double width = (map->x.high - map->x.low) / PLOT_MAP_PIXELS;
    fprintf(gnuplot_script(gnuplot),
            "plot '%s' binary array=(%d,%ld) format='%%float' origin=(%.10g,%.10g) dx=%.10g "
            "dy=%.10g with image\n",
            name, PLOT_MAP_PIXELS, rows, map->x.low + 0.5 * width, first, width, step);
    return 0;
}
