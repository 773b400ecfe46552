"""Reports: the drop-in's four formats byte for byte, and vqx's own."""
import csv
import json
import os
import re
import sys
import unittest
import xml.etree.ElementTree

from support import SHARED, ProgramTest, run, stderr, y4m


def without_run(text):
    """Drops what differs from run to run: the rate and the version."""
    text = re.sub(r'"fps": [0-9.nulinf]+', '"fps": X', text)
    text = re.sub(r'fps="[0-9.inf]+"', 'fps="X"', text)
    return re.sub(r'(?:"version": |<VMAF version=)"[^"]*"', "VERSION", text)


class LibvmafReports(ProgramTest):
    def check(self, golden, arguments, extension):
        path = os.path.join(SHARED, "golden", "reports", f"{golden}.{extension}")
        if not os.path.exists(path):
            self.skipTest(f"{path} is missing")
        out = self.path("out")
        done = run("vmaf", *arguments, f"--{extension}", "-o", out)
        self.assertEqual(done.returncode, 0, stderr(done))
        with open(out) as ours, open(path) as theirs:
            self.assertEqual(without_run(ours.read()), without_run(theirs.read()))

    def test_features_and_default_model(self):
        arguments = ["-r", self.clip("park_joy_480x270.y4m"),
                     "-d", self.clip("park_joy_480x270_x264_crf35.y4m"),
                     "--feature", "psnr", "--feature", "float_ssim", "--feature", "cambi"]
        for extension in ("json", "xml", "csv", "sub"):
            with self.subTest(extension):
                self.check("park_joy_crf35", arguments, extension)

    def test_collection_and_subsampling(self):
        arguments = ["-r", self.clip("src01_hrc00_576x324_420p10le.yuv"),
                     "-d", self.clip("src01_hrc01_576x324_420p10le.yuv"),
                     "-w", 576, "-h", 324, "-p", 420, "-b", 10,
                     "-m", "version=vmaf_b_v0.6.3", "--subsample", 2]
        for extension in ("json", "xml", "csv", "sub"):
            with self.subTest(extension):
                self.check("src01_10_bootstrap", arguments, extension)

    def test_writer_equals_its_specification(self):
        """Subsampling, aggregates and every kind of series, against the executable text."""
        spec = os.path.join(SHARED, "spec")
        if not os.path.isdir(spec):
            self.skipTest(f"{spec} is missing")
        sys.path.insert(0, spec)
        from output import Report  # noqa: E402
        reference = self.file("r.y4m", y4m(frames=7))
        distorted = self.file("d.y4m", y4m(frames=7, shift=1))
        arguments = ["-r", reference, "-d", distorted, "-n", "--subsample", 2,
                     "--feature", "psnr_hvs", "--feature", "psnr=enable_mse=true:enable_apsnr=true"]
        exact = self.path("exact.json")
        self.assertEqual(run("vmaf", *arguments, "--json", "-o", exact, "--precision",
                             "max").returncode, 0)
        with open(exact) as f:
            values = json.load(f)
        series = {key: {} for key in values["pooled_metrics"]}
        for frame in values["frames"]:
            for key, value in frame["metrics"].items():
                series[key][frame["frameNum"]] = float("inf") if value is None else value
        report = Report("V", "1.00", series, 7, 2, (64, 48), values["aggregate_metrics"])
        for extension in ("json", "xml", "csv", "sub"):
            out = self.path("out." + extension)
            self.assertEqual(run("vmaf", *arguments, f"--{extension}", "-o", out).returncode, 0)
            with open(out) as f:
                self.assertEqual(without_run(f.read()), without_run(getattr(report, extension)()))


class VqxReports(ProgramTest):
    def score(self, name, *more):
        self.file("r.y4m", y4m(frames=4))
        self.file("d.y4m", y4m(frames=4, shift=1))
        out = self.path(name)
        done = run("vqx", self.path("r.y4m"), self.path("d.y4m"), "-f", "psnr", "-o", out, *more)
        self.assertEqual(done.returncode, 0, stderr(done))
        return out

    def test_json_round_trips_and_names_its_origin(self):
        with open(self.score("o.json")) as f:
            report = json.load(f)
        self.assertTrue(report["complete"])
        self.assertEqual(report["reference"]["path"], self.path("r.y4m"))
        self.assertEqual(report["reference"]["size"], "64x48")
        self.assertEqual(report["metrics"][0]["name"], "psnr")
        self.assertEqual(len(report["frames"]), 4)
        exact = self.path("v.json")
        run("vmaf", "-r", self.path("r.y4m"), "-d", self.path("d.y4m"), "-n", "--feature", "psnr",
            "--json", "-o", exact, "--precision", "max")
        with open(exact) as f:
            other = json.load(f)
        for ours, theirs in zip(report["frames"], other["frames"]):
            self.assertEqual(ours["scores"], theirs["metrics"])

    def test_csv_is_a_table(self):
        with open(self.score("o.csv")) as f:
            rows = list(csv.reader(line for line in f if not line.startswith("#")))
        self.assertEqual(rows[0], ["frame", "psnr_y", "psnr_cb", "psnr_cr"])
        self.assertEqual([row[0] for row in rows[1:]], ["0", "1", "2", "3"])
        self.assertTrue(all(len(row) == 4 and float(row[1]) > 0 for row in rows[1:]))

    def test_xml_is_well_formed(self):
        root = xml.etree.ElementTree.parse(self.score("o.xml")).getroot()
        self.assertEqual(root.get("complete"), "true")
        self.assertEqual(len(root.find("frames")), 4)

    def test_truncated_input_leaves_a_marked_partial_report(self):
        reference = self.file("r.y4m", y4m(frames=4))
        distorted = self.file("d.y4m", y4m(frames=4)[:-100])
        out = self.path("o.json")
        done = run("vqx", reference, distorted, "-f", "psnr", "-o", out)
        self.assertEqual(done.returncode, 4)
        self.assertIn("d.y4m", stderr(done))
        with open(out) as f:
            report = json.load(f)
        self.assertFalse(report["complete"])
        self.assertEqual(len(report["frames"]), 3)

    def test_report_that_cannot_be_written_is_found_before_scoring(self):
        reference = self.file("r.y4m", y4m())
        done = run("vqx", reference, reference, "-f", "psnr", "-o", self.path("no/such/o.json"))
        self.assertEqual(done.returncode, 5)
        self.assertIn("no/such", stderr(done))

    def test_unknown_extension_is_refused(self):
        reference = self.file("r.y4m", y4m())
        done = run("vqx", reference, reference, "-f", "psnr", "-o", self.path("o.txt"))
        self.assertEqual(done.returncode, 2)
        self.assertIn(".json, .xml and .csv", stderr(done))


if __name__ == "__main__":
    unittest.main()
