#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`scanfarm submit` and `cancel` with programs of our own in the place of Slurm's: which scripts are written, which
calls are made, what is refused.

Without arguments all checks are made; an argument chooses those whose names contain it.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "runner"))
from checks import run_checks  # noqa: E402
from fake_slurm import Place, fails, line, settings, works  # noqa: E402

WARNS = """scan: warns
model: gnlse
parameters:
  {length: 1 mm, wavelength: 835 nm, betas: [-11.83 ps^2/km], gamma: 0.11 W^-1 m^-1, raman: none,
   pulse: {shape: sech, duration: 50 fs, peak_power: 1 kW}, grid: {points: 256, window: 200 fs}}
axes: [{pulse.peak_power: [1 kW, 2 kW]}]
save: {planes: 2}
"""  # the window is too narrow for the pulse


def one_job_is_one_call_and_one_script():
    place = Place()
    out = works(place.submit("--time", "90", "--workers-per-node", "3", "-p", "main", "--mem", "2G"))
    script = place.path("codes.sbatch")
    assert place.calls() == [["--parsable", script]], place.calls()
    assert "job 1001" in out, out
    words = settings(place.read("codes.sbatch"))
    for word in ("--job-name=codes", "--ntasks-per-node=3", "--cpus-per-task=1", "--time=1:30:00", "--mem=2G",
                 "--partition=main", "--requeue", "--open-mode=append", "--signal=B:USR1@60",
                 f"--output={place.folder}/codes.%j.out"):
        assert word in words, (word, words)
    assert not any(word.startswith("--array") for word in words)
    assert place.read("codes.submission").splitlines()[:5] == [
        "scanfarm submission 1", f"scan: {place.path('scan.yaml')}", f"result: {place.path('codes.h5')}", "shards: 1",
        f"script: {script}"]
    assert place.read("codes.submission").endswith("job: run 1001 1-1\n")
    assert re.search(r"(?m)^configuration: [0-9a-f]{16}$", place.read("codes.submission"))
    assert "codes.collect.sbatch" not in place.files()


def an_array_is_followed_by_retry_collect_and_pictures():
    place = Place()
    works(place.submit("--shards", "4", "--max-running", "2", "--retry", "--plot", "timing", "--plot",
                       "observable:code"))
    script, collect, plot = (place.path(f"codes{part}.sbatch") for part in ("", ".collect", ".plot"))
    assert place.calls() == [
        ["--parsable", "--array=1-4%2", script],
        ["--parsable", "--array=1-4%2", "--dependency=afternotok:1001", "--kill-on-invalid-dep=yes", script, "0",
         "retry"],
        ["--parsable", "--dependency=afterany:1001:1002", collect],
        ["--parsable", "--dependency=afterany:1003", plot]], place.calls()
    assert "--array=1-4%2" in settings(place.read("codes.sbatch"))  # by hand the same
    assert place.read("codes.submission").splitlines()[7:] == [
        "job: run 1001 1-4", "job: retry 1002 1-4", "job: collect 1003 -", "job: plot 1004 -"]
    assert "kinds=(timing observable:code)" in place.read("codes.plot.sbatch")
    place = Place()
    works(place.submit("--shards", "4", "--no-collect"))
    assert place.calls() == [["--parsable", "--array=1-4", place.path("codes.sbatch")]]


def arrays_longer_than_the_site_allows_are_divided():
    place = Place()
    works(place.submit("--shards", "23", "--max-running", "6", "--retry", FAKE_ARRAY="11"))
    script = place.path("codes.sbatch")
    runs = [call for call in place.calls() if "retry" not in call and script in call]
    assert runs == [["--parsable", "--array=1-10%2", script], ["--parsable", "--array=1-10%2", script, "10"],
                    ["--parsable", "--array=1-3%2", script, "20"]], runs
    # each array is retried for itself: of several after afternotok all would have to fail
    retries = [call for call in place.calls() if "retry" in call]
    assert [[word for word in call if word.startswith("--dep")] for call in retries] == [
        [f"--dependency=afternotok:{job}"] for job in (1001, 1002, 1003)], retries
    assert [call[-2] for call in retries] == ["0", "10", "20"], retries
    assert place.read("codes.submission").count("\njob: ") == 7
    assert "job: run 1003 21-23" in place.read("codes.submission")
    assert "--dependency=afterany:1001:1002:1003:1004:1005:1006" in place.calls()[-1], place.calls()[-1]
    assert f"sbatch --array=1-3 {script} 20" in place.read("codes.sbatch")


def dry_run_shows_what_would_be_done_and_does_nothing():
    place = Place()
    before = place.files()
    for flag in ("--dry-run", "--print"):
        out = works(place.submit("--shards", "2", "--retry", flag))
        assert f"sbatch --array=1-2 {place.path('codes.sbatch')}" in out, out
        assert "--dependency=afternotok:<run>" in out and "#SBATCH --array=1-2" in out
        assert place.files() == before, place.files()


def scripts_are_clean_for_shellcheck():
    if shutil.which("shellcheck") is None:
        return
    place = Place(folder="it's \"q\" $HOME é")
    works(place.submit("--shards", "2", "--retry", "--plot", "timing", "--set", "size=3", "--container", "image.sif",
                       "-o", "50% \\ of it.h5"))
    scripts = [place.path(name) for name in place.files() if name.endswith(".sbatch")]
    assert len(scripts) == 3, place.files()
    cluster = os.path.join(os.environ["SCANFARM_SOURCE"], "slurm", "local-cluster")
    told = subprocess.run(["shellcheck", *scripts, cluster], capture_output=True, text=True)
    assert told.returncode == 0, told.stdout


def odd_names_mean_themselves():
    """The script, run by hand with a program of ours for scanfarm, hands every word on as it is."""
    place = Place(folder="it's \"q\" $HOME `x` é", name="p $1 'x'.yaml")
    result = "50% \\ of \"it\".h5"
    works(place.submit("--set", "save.planes=3", "-o", result, "--sbatch-option", '--comment=a "b" \\ c'))
    script = place.path(result[:-3] + ".sbatch")
    words = settings(place.read(os.path.basename(script)))
    assert f"--job-name={result[:-3]}" in words and '--comment=a "b" \\ c' in words, words
    assert "--output=/dev/null" in words  # Slurm fills in nothing in a name with a backslash
    with open(script) as file:
        text = re.sub(r"(?m)^scanfarm=.*$", "scanfarm=" + shlex.quote(place.path("tell")), file.read())
    place.put("tell", '#!/bin/bash\nprintf "%s\\n" "$@"\n')
    os.chmod(place.path("tell"), 0o755)
    place.put("by hand", text)
    env = {"PATH": "/usr/bin:/bin", "SLURM_JOB_ID": "7"}
    subprocess.run(["bash", place.path("by hand")], env=env, check=True, cwd="/")
    told = place.read(result[:-3] + ".7.out").splitlines()
    assert told[1:] == ["run", place.path(place.name), "--output", place.path(result), "--workers", "1", "--launcher",
                        "auto", "--relaunch", "2", "--set", "save.planes=3"], told


def a_site_block_comes_from_the_profile_and_stays_when_it_was_changed():
    place = Place()
    place.put("site", "setup = module load openmpi\nsetup = export X='a b'\npartition = wide\nshards = 2\n")
    works(place.submit("--profile", "site"))
    text = place.read("codes.sbatch")
    assert "# >>> site" in text and "module load openmpi\nexport X='a b'\n# <<< site" in text, text
    assert "module load openmpi" in place.read("codes.collect.sbatch")
    place.put("codes.sbatch", text.replace("module load openmpi\n", "module load other\nmodule load more\n"))
    answer = place.submit("--profile", "site", "--time", "5")
    works(answer)
    assert "site block of its own" in answer.stderr, answer.stderr
    text = place.read("codes.sbatch")
    assert "module load other\nmodule load more\n" in text and "load openmpi" not in text and "--time=5:00" in text
    place.put("site", "partion = wide\n")
    fails(place.submit("--profile", "site"), 2, "site:1", "partition")


def mistakes_in_the_scan_and_impossible_shards_end_before_anything_is_written():
    place = Place(scan="scan: x\nmodel: probe\nparameters: {sleeep: 3}\n")
    fails(place.submit(), 2, "sleeep", "scan.yaml:3")
    place = Place()
    before = place.files()
    fails(place.submit("--shards", "31"), 2, "31")
    fails(place.submit("-o", "no/such/folder/x.h5"), 2, "no/such/folder")
    fails(place.submit("--time", "soon"), 2, "--time 'soon'")
    fails(place.submit("--walltime", "5"), 2, "--walltime")
    assert place.files() == before, place.files()


def too_little_memory_is_a_warning():
    place = Place(scan="""scan: big
model: gnlse
parameters:
  {length: 1 mm, wavelength: 835 nm, betas: [-11.83 ps^2/km], gamma: 0.11 W^-1 m^-1, raman: none,
   pulse: {shape: sech, duration: 50 fs, peak_power: 1 kW}, grid: {points: 65536, window: 12 ps}}
""")  # fields of 1 MB, a dozen a worker
    answer = place.submit("--mem", "10M", "--workers-per-node", "4", "--dry-run")
    works(answer)
    assert "--mem 10M: 4 workers need" in answer.stderr, answer.stderr
    for enough in ("0", "1G", "1000"):
        assert "workers need" not in place.submit("--mem", enough, "--dry-run").stderr


def pictures_that_cannot_be_drawn_and_odd_times_are_told_at_once():
    place = Place()
    before = place.files()
    fails(place.submit("--plot", "observable:codex"), 2, "observable:codex", "it has: x, code")
    fails(place.submit("--plot", "observable:checksum"), 2, "observable:checksum")
    fails(place.submit("--plot", "coherence"), 2, "coherence", "ensemble")
    assert place.files() == before, place.files()
    answer = place.submit("--plot", "observable:x", "--time", "0:30", "--dry-run")
    assert "#SBATCH --time=1:00" in works(answer) and "whole minutes, 1 minute is asked for" in answer.stderr, answer
    assert "whole minutes" not in place.submit("--time", "1:00", "--dry-run").stderr


def warnings_of_the_scan_are_told_once_and_not_by_each_shard():
    place = Place(scan=WARNS)
    answer = place.submit("--shards", "2", "--dry-run")
    works(answer)
    warnings = answer.stderr.count("see `scanfarm plan`")
    logs = [place.call("run", place.name, "--shard", f"{k}/2").stderr for k in (1, 2)]
    assert warnings > 0 and [log.count("see `scanfarm plan`") for log in logs] == [warnings, 0], (answer.stderr, logs)
    assert ["rtol" in log for log in logs] == [True, False], logs


def files_of_another_configuration_are_refused():
    place = Place()
    for words in (("--shard", "2/3"), ("-o", "one.h5", "--only", "0")):
        works(place.call("run", place.name, "-q", *words))
    works(place.submit("--shards", "3", "--dry-run"))
    works(place.submit("-o", "one.h5", "--dry-run"))
    place.put(place.name, place.read(place.name).replace("[0, 1]", "[0, 2]"))
    before = place.files()
    for words, name in ((("--shards", "3"), "codes.shard-2-of-3.h5"), (("-o", "one.h5"), "one.h5"),
                        (("--shards", "3", "-o", "one.h5"), "one.h5")):  # what the shards would be collected into
        for more in ((), ("--dry-run",)):
            answer = place.submit(*words, *more)
            fails(answer, 4, name, "another configuration", "axis", "there and", "--output")
            assert answer.stderr.count("\n") == 1 and "--fresh" not in answer.stderr, answer.stderr
    assert place.files() == before and place.calls() == [], place.calls()
    works(place.submit("--shards", "3", "-o", "other.h5"))
    place.put("codes.shard-1-of-3.h5", "no HDF5\n")
    fails(place.submit("--shards", "3"), 4, "codes.shard-1-of-3.h5")


def what_slurm_refuses_is_told_in_its_words_and_the_script_stays():
    place = Place()
    place.put("refuse", "sbatch: error: Batch job submission failed: Invalid account or account/partition\n")
    answer = place.submit("--account", "nobody")
    fails(answer, 3, "Invalid account or account/partition", "submit again", place.path("codes.sbatch"))
    assert answer.stderr.count("\n") == 1, answer.stderr
    assert os.access(place.path("codes.sbatch"), os.X_OK)
    place.put("refuse", "sbatch: unrecognized option '--nonsense'\nTry \"sbatch --help\" for more information\n")
    answer = place.submit("--shards", "2", "--retry", "--plot", "timing")
    fails(answer, 3, "sbatch: unrecognized option '--nonsense'", "leaves out the retry, the collecting, the pictures)")
    assert "Try" not in answer.stderr, answer.stderr
    os.remove(place.path("refuse"))
    os.remove(os.path.join(place.bin, "sbatch"))
    empty = os.path.join(place.top, "bin")  # no sbatch on this PATH, whatever the machine has
    fails(place.submit(path=empty), 3, "sbatch is not on the PATH")
    os.remove(os.path.join(place.bin, "scontrol"))
    answer = place.submit("--dry-run", path=empty)
    works(answer)
    assert "MaxArraySize is taken to be 1001" in answer.stderr


def a_call_that_fails_on_the_way_leaves_what_was_submitted_on_record():
    place = Place()
    fake = os.path.join(place.bin, "sbatch")
    with open(fake, "a") as file:
        file.write("[ $n -lt 2 ] || echo 'QOSMaxSubmitJobPerUserLimit' >refuse\n")
    fails(place.submit("--shards", "25", FAKE_ARRAY="11"), 3, "QOSMaxSubmitJobPerUserLimit", "--array=1-5", " 20",
          "leaves out the collecting)")
    assert place.read("codes.submission").splitlines()[7:] == ["job: run 1001 1-10", "job: run 1002 11-20"]


def submitting_again_waits_until_the_jobs_have_left_the_queue():
    place = Place()
    works(place.submit("--shards", "2"))
    place.put("queue", line(1001, 1, "RUNNING") + line(1001, 2, "PENDING", "Resources"))
    fails(place.submit("--shards", "2"), 4, "run job 1001", "1 running, 1 pending", "scanfarm cancel")
    assert len(place.calls()) == 2
    place.put("queue", line(1001, 1, "COMPLETED") + line(1001, 2, "FAILED") + line(1002, "N/A", "CANCELLED"))
    works(place.submit("--shards", "2"))
    assert len(place.calls()) == 4
    place.put("squeue_fails", "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n")
    fails(place.submit("--shards", "2"), 3, "Unable to contact", "nothing is submitted")
    place.put("squeue_fails", "slurm_load_jobs error: Invalid job id specified\n")  # of a job long gone
    works(place.submit("--shards", "2"))


def another_number_of_shards_beside_shard_files_is_refused():
    place = Place(folder="[a]* b")
    works(place.call("run", place.name, "--shard", "2/3", "-q"))
    fails(place.submit("--shards", "2"), 4, "codes.shard-2-of-3.h5", "--shards 3")
    fails(place.submit(), 4, "in 3 shards")
    works(place.submit("--shards", "3", "--dry-run"))
    assert place.call("collect", "-o", "codes.h5", "codes.shard-2-of-3.h5").returncode == 1
    # collected: one job goes on with it
    works(place.submit("--dry-run"))


def cancel_takes_what_is_left_out_of_the_queue():
    place = Place()
    works(place.submit("--shards", "3", "--retry"))
    name = "codes.submission"
    place.put("queue", line(1001, 1, "COMPLETED") + line(1001, 2, "RUNNING") + line(1001, 3, "PENDING")
              + line(1002, 1, "PENDING", "Dependency") + line(1003, "N/A", "PENDING", "Dependency"))
    out = works(place.call("cancel", name, "--pending"))
    assert place.calls("cancels") == [["--quiet", "--state=PENDING", "1001", "1002"]], place.calls("cancels")
    assert "run job 1001 (1 pending)" in out and "collect" not in out, out
    out = works(place.call("cancel", name))
    assert place.calls("cancels")[1] == ["--quiet", "1001", "1002", "1003"]
    assert "run job 1001 (1 running, 1 pending)" in out and "collect job 1003" in out, out
    os.remove(place.path("queue"))
    assert "nothing of" in works(place.call("cancel", name))
    assert len(place.calls("cancels")) == 2
    place.put("squeue_fails", "squeue: error: it is down\n")
    fails(place.call("cancel", name), 3, "it is down", "nothing is cancelled")
    fails(place.call("cancel", "missing.submission"), 2, "missing.submission")
    fails(place.call("cancel", "scan.yaml"), 2, "scan.yaml", "line 1")
    fails(place.call("cancel", "/tmp"), 2, "/tmp", "no regular file")


def help_is_of_the_same_kind_as_elsewhere():
    place = Place()
    out = works(place.call("submit", "--help"))
    assert out.startswith("Usage: scanfarm submit") and "--max-restarts N" in out
    assert works(place.call("help", "cancel")).startswith("Usage: scanfarm cancel")
    assert "submit" in works(place.call("--help"))
    cluster = os.path.join(os.environ["SCANFARM_SOURCE"], "slurm", "local-cluster")
    told = subprocess.run([cluster, "--help"], capture_output=True, text=True)
    assert told.returncode == 0 and told.stdout.startswith("usage: ") and told.stderr == "", told


def main():
    return run_checks(globals())


if __name__ == "__main__":
    sys.exit(main())
