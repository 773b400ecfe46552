"""Reports: the drop-in's four formats byte for byte, and vqx's own."""
import csv
import json
import os
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree

from support import BIN, SHARED, ProgramTest, run, stderr, y4m


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
        self.assertIn(".json, .xml, .csv and .html", stderr(done))

    def test_extensions_in_capitals(self):
        with open(self.score("O.JSON")) as f:
            self.assertTrue(json.load(f)["complete"])

    def test_a_failed_run_leaves_no_empty_report(self):
        out = self.path("o.json")
        self.assertEqual(run("vqx", self.path("none"), self.path("none"), "-o", out).returncode, 3)
        self.assertFalse(os.path.exists(out))
        with open(out, "w") as f:
            f.write("from an earlier run")
        self.assertEqual(run("vqx", self.path("none"), self.path("none"), "-o", out).returncode, 3)
        with open(out) as f:
            self.assertEqual(f.read(), "from an earlier run")

    def test_hostile_names_leave_every_report_valid(self):
        name = b'</script><b>&amp;"\'\xe4\x1b\n,.y4m'
        path = os.path.join(self.folder.encode(), name.replace(b"/", b":"))
        with open(path, "wb") as f:
            f.write(y4m())
        outs = [self.path("o." + extension) for extension in ("json", "xml", "csv", "html")]
        arguments = [word for out in outs for word in ("-o", out)]
        done = subprocess.run([os.path.join(BIN, "vqx"), path, path, "-f", "psnr", *arguments],
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, stderr(done))
        texts = []
        for out in outs:
            with open(out, encoding="utf-8", errors="strict") as f:
                texts.append(f.read())
        shown = os.path.basename(json.loads(texts[0])["reference"]["path"])
        self.assertEqual(shown, '<:script><b>&amp;"\'\ufffd\x1b\n,.y4m')
        root = xml.etree.ElementTree.fromstring(texts[1])
        self.assertTrue(root.find("reference/fact").get("value").endswith(
            '<:script><b>&amp;"\'\ufffd  ,.y4m'))
        rows = [line for line in texts[2].splitlines() if not line.startswith("#")]
        self.assertEqual(rows[0], "frame,psnr_y,psnr_cb,psnr_cr")
        self.assertNotIn("<b>", texts[3])
        self.assertIn("&lt;b&gt;&amp;amp;&quot;'\ufffd  ,.y4m", texts[3])


class HtmlReport(ProgramTest):
    NAMESPACE = "{http://www.w3.org/1999/xhtml}"

    def page(self, frames, *more, size=(16, 16), damage=lambda data: data):
        """The page of a run on raw video whose distortion grows with the frame, parsed."""
        width, height = size
        planes = width * height * 3 // 2
        self.file("r.yuv", bytes(planes * frames))
        self.file("d.yuv", damage(b"".join(
            bytes([1 + i * 200 // frames]) * planes for i in range(frames))))
        out = self.path("o.html")
        self.done = run("vqx", self.path("r.yuv"), self.path("d.yuv"), "--raw-size",
                        f"{width}x{height}", "-o", out, "-o", self.path("o.json"), *more)
        with open(out, encoding="utf-8") as f:
            self.text = f.read()
        with open(self.path("o.json")) as f:
            self.report = json.load(f)
        self.root = xml.etree.ElementTree.fromstring(self.text)
        return self.root

    def rows(self, caption):
        """Cells of the table with this caption, by its first cell."""
        for table in self.root.iter(self.NAMESPACE + "table"):
            if table.find(self.NAMESPACE + "caption").text == caption:
                body = table.find(self.NAMESPACE + "tbody")
                return {row[0].text: [cell.text for cell in row[1:]] for row in body}
        raise AssertionError(f"no table {caption}")

    def data(self):
        for script in self.root.iter(self.NAMESPACE + "script"):
            if script.get("id") == "data":
                return json.loads(script.text)
        raise AssertionError("no data")

    def test_values_and_provenance(self):
        self.page(5, "-f", "psnr", "-f", "psnr_hvs")
        self.assertEqual(self.done.returncode, 0, stderr(self.done))
        pooled = self.rows("Scores over all frames")
        for key, expected in self.report["pooled"].items():
            self.assertEqual(pooled[key][0], f"{expected['mean']:.6f}")
            self.assertEqual(pooled[key][1], f"{expected['min']:.6f}")
            self.assertEqual(pooled[key][5], f"{expected['low_5_percent']:.6f}")
        self.assertEqual(self.rows("Reference")["size"], ["16x16"])
        self.assertEqual(self.rows("Environment")["backend"], ["cpu"])
        self.assertIn("psnr", self.rows("What was measured"))
        self.assertEqual(list(self.rows("Frames with the lowest psnr_y")), ["4", "3", "2", "1", "0"])
        data = self.data()
        self.assertEqual(data["bucket"], 1)
        for series in data["series"]:
            for frame, low, high in zip(self.report["frames"], series["low"], series["high"]):
                self.assertEqual(low, high)
                self.assertAlmostEqual(low, frame["scores"][series["key"]], places=4)

    def test_it_loads_nothing(self):
        self.page(2, "-f", "psnr")
        for text in ("src=", "href=", "url(", "@import", "fetch("):
            self.assertNotIn(text, self.text)
        self.assertIn("default-src 'none'", self.text)
        for place in re.findall("https?://[^\"' ]*", self.text):
            self.assertIn(place, ("http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg"))

    def test_cambi_is_worst_where_it_is_highest(self):
        self.page(2, "-f", "cambi", size=(320, 240))
        self.assertEqual(len(self.rows("Frames with the highest cambi")), 2)

    def test_a_long_clip_stays_small_and_keeps_its_extremes(self):
        frames = 100000
        self.page(frames, "-f", "psnr", size=(2, 2))
        self.assertLess(len(self.text), 150000)
        series = self.data()["series"][0]
        self.assertLessEqual(len(series["low"]), 1000)
        scores = [frame["scores"]["psnr_y"] for frame in self.report["frames"]]
        self.assertEqual(len(scores), frames)
        self.assertAlmostEqual(min(series["low"]), min(scores), places=4)
        self.assertAlmostEqual(max(series["high"]), max(scores), places=4)

    def test_a_slice_and_a_subsample_keep_their_indices(self):
        self.page(20, "-f", "psnr", "--first", "5", "--count", "12", "--subsample", "4")
        data = self.data()
        self.assertEqual((data["first"], data["step"], data["frames"]), (8, 4, 3))

    def test_an_incomplete_run_says_so(self):
        self.page(4, "-f", "psnr", damage=lambda data: data[:-7])
        self.assertEqual(self.done.returncode, 4)
        alerts = [e.text for e in self.root.iter(self.NAMESPACE + "p") if e.get("role") == "alert"]
        self.assertEqual(len(alerts), 1)
        self.assertIn("d.yuv: frame 3", alerts[0])

    def test_a_run_without_a_frame(self):
        self.page(2, "-f", "psnr", damage=lambda data: data[:7])
        self.assertEqual(self.done.returncode, 4)
        self.assertNotIn("<svg", self.text)

    def test_a_score_that_is_not_finite(self):
        self.page(3, "-f", "psnr_hvs", damage=lambda data: bytes(len(data)))
        self.assertEqual(self.done.returncode, 0, stderr(self.done))
        self.assertIn(None, self.data()["series"][0]["low"])


if __name__ == "__main__":
    unittest.main()
