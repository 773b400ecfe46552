"""Golden results of libvmaf, every case.

In a few cases libvmaf's results come from vector code that reads stale bytes beside the picture
(adm.md, section on paths), where the plain code is the law: 322 columns are such a width.  There the
ADM scores must equal the executable specification, all other features the golden results, and the
scores of VMAF follow from both.
"""
import importlib.util
import json
import os
import shlex
import subprocess
import sys
import unittest

from support import BIN, CLIPS, SHARED, ProgramTest, run, stderr

GOLDEN = os.path.join(SHARED, "golden")
CASES = os.path.join(GOLDEN, "cases.tsv")
STALE = "seeking_444p8"
# Set where the programs are built without FFmpeg: cases with other inputs than y4m and raw are left out.
WITHOUT_FFMPEG = "VQX_WITHOUT_FFMPEG" in os.environ


def cases():
    with open(CASES) as f:
        for line in f:
            if not line.strip() or line.startswith("#"):
                continue
            row = (line.rstrip("\n").split("\t") + [""])[:5]
            if WITHOUT_FFMPEG and not all(name.endswith((".y4m", ".yuv")) for name in row[1:3]):
                continue
            yield row


def has_stale_adm(case, arguments):
    integer_adm = "-m " in arguments and "vmaf_float" not in arguments or "feature adm" in arguments
    return case.startswith(STALE + ".") and integer_adm


@unittest.skipUnless(os.path.exists(CASES), f"{CASES} is missing: no golden results are compared")
class Golden(ProgramTest):
    def test_all_cases(self):
        lines = ["\t".join(row) for row in cases() if not has_stale_adm(row[0], row[4])]
        table = self.file("cases.tsv", ("\n".join(lines) + "\n").encode())
        done = subprocess.run(
            [sys.executable, os.path.join(SHARED, "tools", "check_golden.py"),
             os.path.join(BIN, "vmaf"), CLIPS, GOLDEN, table], capture_output=True, text=True)
        sys.stderr.write("\n" + done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])
        self.assertGreater(len(lines), 200)

    def test_where_the_plain_code_is_the_law(self):
        spec = self.executable_adm()
        compared = 0
        for case, reference, distorted, _, arguments in cases():
            if not has_stale_adm(case, arguments):
                continue
            out = self.path("o.json")
            done = run("vmaf", "-r", os.path.join(CLIPS, reference), "-d",
                       os.path.join(CLIPS, distorted), "--json", "-o", out, "--precision", "max",
                       *shlex.split(arguments))
            self.assertEqual(done.returncode, 0, stderr(done))
            with open(out) as f, open(os.path.join(GOLDEN, case + ".json")) as g:
                ours, theirs = json.load(f)["frames"], json.load(g)["frames"]
            self.assertEqual(len(ours), len(theirs))
            for index, (own, golden) in enumerate(zip(ours, theirs)):
                for key, value in own["metrics"].items():
                    if key in spec[index]:
                        self.assertEqual(value, spec[index][key], f"{case} {index} {key}")
                        compared += 1
                    elif "adm" not in key and "aim" not in key and not key.startswith("vmaf") \
                            and not key.startswith("psnr") and not key.startswith("speed"):
                        self.assertEqual(value, golden["metrics"][key], f"{case} {index} {key}")
        self.assertGreater(compared, 100)

    def executable_adm(self):
        """Default-option ADM scores by frame, from the specification."""
        script = os.path.join(SHARED, "spec", "adm.py")
        if importlib.util.find_spec("numpy") is None:
            self.skipTest("NumPy is missing: the executable specification cannot run")
        done = subprocess.run([sys.executable, script,
                               os.path.join(CLIPS, "seeking_322x242_444p8_ref.y4m"),
                               os.path.join(CLIPS, "seeking_322x242_444p8_dis.y4m")],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


if __name__ == "__main__":
    unittest.main()
