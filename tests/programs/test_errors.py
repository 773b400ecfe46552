"""What the programs do when something is wrong: one test a row of the table of errors."""
import array
import fcntl
import json
import os
import signal
import struct
import subprocess
import termios
import time
import unittest

from support import BIN, ProgramTest, run, stderr, stdout, y4m


def wait_until_read(pipe):
    """Until the program has taken all that was written: it is in its frame loop then."""
    for _ in range(200):
        waiting = array.array("i", [0])
        fcntl.ioctl(pipe, termios.FIONREAD, waiting)
        if waiting[0] == 0:
            return
        time.sleep(0.05)
    raise AssertionError("the program does not read its standard input")


def pgm(width=64, height=48):
    """A picture that only FFmpeg can open."""
    return f"P5 {width} {height} 255\n".encode() + bytes(x % 251 for x in range(width * height))


def wav():
    """A container without a video stream."""
    data = bytes(800)
    head = b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8) + b"data"
    return b"RIFF" + struct.pack("<I", len(head) + 4 + len(data)) + head + struct.pack(
        "<I", len(data)) + data


DAMAGES = (("truncated", lambda b: b[:-7]), ("stray bytes", lambda b: b + b"xyz"),
           ("lost framing", lambda b: b[:200] + b[200:].replace(b"FRAME", b"FRAXE", 1)))


class Vmaf(ProgramTest):
    def pair(self, **changes):
        self.file("r.y4m", y4m())
        self.file("d.y4m", y4m(**changes))
        return ["-r", self.path("r.y4m"), "-d", self.path("d.y4m"), "-n"]

    def fails(self, arguments, status, *texts, env=None):
        out = self.path("never.json")
        done = run("vmaf", *arguments, "--json", "-o", out, env=env)
        self.assertEqual(done.returncode, status, stderr(done))
        for text in texts:
            self.assertIn(text, stderr(done))
        self.assertFalse(os.path.exists(out), "a report in spite of the error")

    def test_unknown_option_is_told_and_the_run_continues(self):
        done = run("vmaf", *self.pair(), "--nonsense", "--feature", "psnr")
        self.assertEqual(done.returncode, 0)
        self.assertIn("unrecognized option '--nonsense'", stderr(done))

    def test_unknown_feature_option_is_a_warning(self):
        done = run("vmaf", *self.pair(), "--feature", "psnr=enable_chrome=true")
        self.assertEqual(done.returncode, 0)
        self.assertIn('psnr has no option "enable_chrome"; did you mean "enable_chroma"?',
                      stderr(done))

    def test_unknown_feature(self):
        self.fails([*self.pair(), "--feature", "nonsense"], 255,
                   "problem loading feature extractor: nonsense")

    def test_option_value_out_of_range(self):
        self.fails([*self.pair(), "--feature", "float_ssim=scale=11"], 255,
                   "problem loading feature extractor: float_ssim")

    def test_same_key_twice_is_a_warning_and_the_first_counts(self):
        done = run("vmaf", *self.pair(), "--feature", "psnr", "--feature",
                   "psnr=enable_chroma=false", "--json", "-o", self.path("o.json"))
        self.assertEqual(done.returncode, 0)
        self.assertIn("the first request counts", stderr(done))
        with open(self.path("o.json")) as f:
            self.assertIn("psnr_cb", f.read())

    def test_usage_errors(self):
        pair = self.pair()
        for arguments, text in (
                (["-r", "x"], "Distorted .y4m or .yuv (-d/--distorted) is required"),
                (["-d", "x"], "Reference .y4m or .yuv (-r/--reference) is required"),
                ([*pair, "-w", "64"], "--height/-h"),
                ([*pair, "-b", "9"], 'Invalid argument "9" for option -b/--bitdepth'),
                ([*pair, "-p", "411"], 'Invalid argument "411" for option -p/--pixel_format'),
                ([*pair, "--threads", "many"], 'Invalid argument "many" for option --threads'),
                ([*pair, "--subsample", ""], "--subsample"),
                ([*pair, "--cpumask", "0x"], "--cpumask"),
                ([*pair, "--frame_cnt", "3x"], "should be an integer"),
                ([*pair, "-m", "name=x"], "neither a path= nor a version="),
                ([*pair, "-m", "nonsense"], "bad option string"),
                ([*pair, "--feature", "psnr=enable_chroma"], "bad option string"),
                ([*pair, "--aom_ctc", "v8.0"], 'bad aom_ctc version "v8.0"'),
                ([*pair, "--aom_ctc", "proposed"], "deprecated"),
                ([*pair, "--nflx_ctc", "v2.0"], 'bad nflx_ctc version "v2.0"'),
                ([*pair, "--precision", "18"], "--precision must be an integer 1..17"),
                ([*pair, "--backend", "vulkan"], "one of auto, cpu, host, cuda, hip, sycl"),
                ([*pair, "--metal_device", "0"], "there is no backend metal"),
                ([*pair, "--backend", "hip", "--no_hip"], "exclude each other"),
                ([*pair, "--backend", "cuda", "--sycl_device", "0"], "does not fit --backend cuda"),
                ([*pair, "--sycl_device", "0", "--backend", "cuda"], "does not fit --backend cuda"),
                ([*pair, "--sycl_device", "one"], "should be an integer"),
                (["-r", "-", "-d", "-"], "can be one of the two videos only"),
                ([*pair, "-m", "version=vmaf_v0.6.1", "-m", "version=vmaf_v0.6.1neg"],
                 "uniquely named")):
            with self.subTest(text):
                self.fails(arguments, 1, text, "Usage:")

    def test_files_that_cannot_be_read(self):
        none = self.path("none.y4m")
        self.fails(["-r", none, "-d", none, "-n"], 255, "could not open file: " + none,
                   "problem with reference file: " + none)
        good = self.file("r.y4m", y4m())
        for name, content in (("text.mp4", b"this is not a video\n" * 20), ("sound.wav", wav()),
                              ("empty.y4m", b""), ("colour.ppm", b"P6 8 8 255\n" + bytes(192))):
            path = self.file(name, content)
            with self.subTest(name):
                self.fails(["-r", good, "-d", path, "-n"], 255, path + ": ",
                           "problem with distorted file: " + path)
        self.fails(["-r", good, "-d", self.path("colour.ppm"), "-n"], 255, "rgb24")
        done = run("vmaf", "-r", good, "-d", self.path("colour.ppm"), "-n")
        self.assertNotIn("--", stderr(done), "a flag that this program does not have")

    def test_what_is_not_y4m_is_opened_through_ffmpeg(self):
        picture = self.file("p.pgm", pgm())
        done = run("vmaf", "-r", picture, "-d", picture, "-n", "--feature", "psnr", "--json", "-o",
                   self.path("o.json"))
        self.assertEqual(done.returncode, 0, stderr(done))
        with open(self.path("o.json")) as f:
            self.assertEqual(json.load(f)["frames"][0]["metrics"]["psnr_y"], 60)

    def test_models_that_cannot_be_loaded(self):
        for item, *texts in (
                ("version=vmaf_v9", 'libvmaf ERROR no such built-in model: "vmaf_v9"',
                 'libvmaf ERROR no such built-in model collection: "vmaf_v9"',
                 "problem loading model: vmaf_v9"),
                ("path=none.pkl", 'could not read model from path: "none.pkl"',
                 "support for pkl model files has been removed, use json")):
            with self.subTest(item):
                self.fails([*self.pair()[:-1], "-m", item], 255, *texts)

    def test_abbreviations_mean_what_they_mean_in_libvmaf(self):
        pair = self.pair()[:-1]
        done = run("vmaf", *pair, "--no", "--feat", "psnr", "--cs", "--o", self.path("o.csv"))
        self.assertEqual((done.returncode, stderr(done)), (0, ""))
        raw = self.file("a.yuv", bytes(64 * 48 * 3))
        done = run("vmaf", "--ref", raw, "--d", raw, "--w", "64", "--he=48", "--p", "420", "--b",
                   "8", "--no", "--feature", "psnr", "--frame_c", "1")
        self.assertEqual((done.returncode, stderr(done)), (0, ""))
        # A value is no option, whatever it looks like.
        out = self.path("--no")
        done = run("vmaf", *pair, "--no", "--feature", "psnr", "-o", out)
        self.assertTrue(os.path.exists(out), stderr(done))
        done = run("vmaf", *pair, "-n", "--frame", "3")
        self.assertIn("option '--frame' is ambiguous; possibilities: '--frame_cnt'", stderr(done))

    def test_flags_of_gpu_forks(self):
        done = run("vmaf", *self.pair(), "--no_cuda", "--no_vulkan", "--no_metal", "--gpumask", "1",
                   "--cpumask", "0xff", "--feature", "psnr", "--backend", "auto",
                   env={"VQX_BACKEND_PATH": self.folder})
        self.assertEqual((done.returncode, stderr(done)), (0, ""))

    def test_a_named_backend_that_is_missing(self):
        self.fails([*self.pair(), "--feature", "psnr", "--backend", "sycl"], 1, "sycl",
                   env={"VQX_BACKEND_PATH": self.folder})

    def test_rates_and_aspects_are_not_checked(self):
        done = run("vmaf", *self.pair(header=" F30:1 A4:3 XCOLORRANGE=FULL"), "--feature", "psnr")
        self.assertEqual((done.returncode, stderr(done)), (0, ""))

    def test_float_ssim_without_a_window_position_is_as_in_libvmaf(self):
        small = self.file("s.y4m", y4m(width=10, height=10))
        done = run("vmaf", "-r", small, "-d", small, "-n", "--feature", "float_ssim", "--json", "-o",
                   self.path("o.json"))
        self.assertEqual(done.returncode, 0, stderr(done))
        with open(self.path("o.json")) as f:
            self.assertIn(json.load(f)["frames"][0]["metrics"]["float_ssim"], (0, None))

    def test_adm_refuses_sides_of_17_to_32(self):
        small = self.file("s.y4m", y4m(width=32, height=64))
        self.fails(["-r", small, "-d", small, "-n", "--feature", "adm"], 234, "adm", "32")

    def test_a_score_that_is_not_finite_is_null(self):
        done = run("vmaf", *self.pair(), "--feature", "psnr_hvs", "--json", "-o",
                   self.path("o.json"))
        self.assertEqual(done.returncode, 0)
        self.assertIn("warning: frame 0: psnr_hvs is not finite", stderr(done))
        with open(self.path("o.json")) as f:
            self.assertIsNone(json.load(f)["frames"][0]["metrics"]["psnr_hvs"])

    def test_pairs_that_do_not_match(self):
        for changes, text in (({"width": 60}, "dimensions do not match: 64x48, 60x48"),
                              ({"tag": "444"}, "pixel formats do not match: 0, 3"),
                              ({"tag": "420p10", "depth": 10}, "bitdepths do not match: 8, 10")):
            with self.subTest(text):
                self.fails([*self.pair(**changes), "--feature", "psnr"], 255, text,
                           "videos are incompatible, 1 problem(s).")

    def test_no_frames(self):
        self.file("r.y4m", y4m(frames=0))
        self.fails(["-r", self.path("r.y4m"), "-d", self.path("r.y4m"), "-n", "--feature", "psnr"],
                   234, "no frame")

    def test_shorter_side_decides(self):
        done = run("vmaf", *self.pair(frames=2), "--feature", "psnr")
        self.assertEqual(done.returncode, 0)
        self.assertIn('d.y4m" ended before "', stderr(done))

    def test_broken_input_leaves_no_report(self):
        for name, damage in DAMAGES:
            for side in ("r", "d"):
                with self.subTest(f"{name}, {side}"):
                    pair = self.pair()
                    self.file(f"{side}.y4m", damage(y4m()))
                    self.fails([*pair, "--feature", "psnr"], 234, f"{side}.y4m",
                               "problem while reading pictures")

    def test_sample_above_the_depth(self):
        self.file("r.y4m", y4m(tag="420p10", depth=10))
        self.file("d.y4m", y4m(tag="420p10", depth=10, value=1024))
        self.fails(["-r", self.path("r.y4m"), "-d", self.path("d.y4m"), "-n", "--feature", "psnr"],
                   234, "1024")

    def test_picture_too_small_is_refused_before_any_frame(self):
        self.fails([*self.pair(), "--feature", "float_ms_ssim"], 234, "float_ms_ssim", "176",
                   "problem reading pictures")

    def test_report_that_cannot_be_written(self):
        done = run("vmaf", *self.pair(), "--feature", "psnr", "-o", self.path("no/such/file"))
        self.assertEqual(done.returncode, 255)
        self.assertIn("could not open file", stderr(done))

    def test_version_and_unknown_backend(self):
        done = run("vmaf", "--version")
        self.assertEqual(done.returncode, 0)
        self.assertTrue(stderr(done).startswith("vqx "))
        self.fails([*self.pair(), "--backend", "abacus"], 1, "abacus")

    def test_standard_input(self):
        self.file("d.y4m", y4m(shift=1))
        done = run("vmaf", "-r", "-", "-d", self.path("d.y4m"), "-n", "--feature", "psnr",
                   "--csv", "-o", self.path("a.csv"), stdin=y4m())
        self.assertEqual(done.returncode, 0, stderr(done))
        self.file("r.y4m", y4m())
        run("vmaf", "-r", self.path("r.y4m"), "-d", self.path("d.y4m"), "-n", "--feature", "psnr",
            "--csv", "-o", self.path("b.csv"))
        with open(self.path("a.csv")) as a, open(self.path("b.csv")) as b:
            self.assertEqual(a.read(), b.read())

    def test_every_simd_level_prints_the_same(self):
        reports = set()
        pair = self.pair(shift=1)
        for level in ("scalar", "sse4", "avx2", "avx512", ""):
            out = self.path("o.csv")
            done = run("vmaf", *pair, "--feature", "psnr", "--feature", "float_ssim", "--csv", "-o",
                       out, "--precision", "max", env={"VQX_SIMD": level})
            if done.returncode == 0:
                with open(out) as f:
                    reports.add(f.read())
            else:
                self.assertIn("cannot run SIMD level", stderr(done))
        self.assertEqual(len(reports), 1)
        self.assertEqual(run("vmaf", *pair, env={"VQX_SIMD": "mmx"}).returncode, 1)


class Vqx(ProgramTest):
    def pair(self, **changes):
        return [self.file("r.y4m", y4m()), self.file("d.y4m", y4m(**changes))]

    def fails(self, arguments, status, *texts, env=None):
        done = run("vqx", *arguments, env=env)
        self.assertEqual(done.returncode, status, stderr(done))
        for text in texts:
            self.assertIn(text, stderr(done))

    def fails_with_partial_report(self, arguments, status, *texts, **options):
        """The report, which has to be marked incomplete."""
        out = self.path("partial.json")
        done = run("vqx", *arguments, "-o", out, **options)
        self.assertEqual(done.returncode, status, stderr(done))
        with open(out) as f:
            report = json.load(f)
        self.assertIs(report["complete"], False)
        for text in texts:
            self.assertIn(text, stderr(done))
            self.assertIn(text, report["error"])
        return report

    def test_names_are_suggested(self):
        pair = self.pair()
        self.fails([*pair, "--fial-below", "x=1"], 2, "no option --fial-below",
                   "did you mean --fail-below?")
        self.fails([*pair, "-f", "flaot_ssim"], 2, 'did you mean "float_ssim"?')
        self.fails([*pair, "-f", "ssmi"], 2, 'did you mean "ssim"?')
        self.fails([*pair, "-f", "PSNR"], 2, 'did you mean "psnr"?')
        self.fails([*pair, "-f", "vmaf"], 2, "VMAF is a model, such as -m vmaf_v0.6.1")
        self.fails([*pair, "-f", "psnr=enable_chrome=true"], 2, 'did you mean "enable_chroma"?')
        self.fails([*pair, "-m", "vmaf_v0.6.2"], 2, "vmaf_v0.6.1")
        self.fails([*pair, "-m", "vmaf"], 2, "there are vmaf_v")
        self.fails(["metrisc"], 2, "two videos are needed", "did you mean vqx metrics?")

    def test_bad_values_are_refused_before_scoring(self):
        pair = self.pair()
        for arguments, text in ((["-f", "psnr="], "expected METRIC"),
                                (["-f", "psnr=enable_chroma"], "expected METRIC"),
                                (["-f", "psnr=enable_chroma=maybe"], "it takes true or false"),
                                (["--count", "-1"], "not in range 0 to 1000000000"),
                                (["--count", "2147483648"], "--count"),
                                (["--subsample", "0"], "not in range 1 to"),
                                (["-t", "0"], "not in range 1 to 1024"),
                                (["--raw-size", "64"], "expected WIDTHxHEIGHT"),
                                (["--raw-size", "64x48"], "leave out --raw-size"),
                                (["--raw-format", "gray"], "needs --raw-size"),
                                (["--pixel-format", "p010"], "known are gray"),
                                (["--scale-distorted", "area"], "known are bilinear"),
                                (["--fail-below", "vmaf"], "expected KEY=NUMBER"),
                                (["--fail-below", "vmaf=nan"], "expected KEY=NUMBER"),
                                (["--precision", "18"], "1..17"),
                                (["-o", self.path("o.doc")], ".json, .xml, .csv and .html"),
                                (["third.mp4"], 'unexpected argument "third.mp4"')):
            with self.subTest(text):
                self.fails([*pair, *arguments], 2, text)
        self.fails(["-", "-"], 2, "one of the two videos only")

    def test_same_key_twice_is_refused(self):
        self.fails([*self.pair(), "-f", "psnr", "-f", "psnr=enable_mse=true"], 2, "twice")

    def test_inputs_that_cannot_be_read(self):
        self.fails([self.path("none.mp4"), self.path("none.mp4")], 3, "none.mp4")
        for name, content, reason in (
                ("text.mp4", b"this is not a video\n" * 20, "nor a video that FFmpeg can open"),
                ("sound.wav", wav(), "holds no video stream"), ("empty.y4m", b"", "is empty"),
                ("colour.ppm", b"P6 8 8 255\n" + bytes(192), "--pixel-format")):
            path = self.file(name, content)
            self.fails([path, path, "-f", "psnr"], 3, path + ": ", reason)
        self.fails([self.folder, self.folder], 3, "is a directory")
        done = run("vqx", "-", self.file("d.y4m", y4m()), stdin=b"")
        self.assertEqual(done.returncode, 3)
        self.assertIn("standard input: is empty", stderr(done))

    def test_what_is_not_y4m_is_opened_through_ffmpeg(self):
        picture = self.file("p.pgm", pgm())
        done = run("vqx", picture, picture, "-f", "psnr")
        self.assertEqual(done.returncode, 0, stderr(done))
        self.assertIn("1 frame, 64x48 4:0:0 8 bit", stdout(done))

    def test_what_y4m_says_of_the_video_has_to_match(self):
        for ours, theirs, texts in (
                ("", " F30:1", ("frame rates differ: 25", "30", "--allow-rate-mismatch")),
                ("", " A4:3", ("sample aspect ratios differ: 1:1", "4:3",
                               "--allow-aspect-mismatch")),
                (" XCOLORRANGE=LIMITED", " XCOLORRANGE=FULL",
                 ("colour ranges differ: limited", "full", "--allow-colour-mismatch")),
                (" It", " It", ("is interlaced (top field first)", "--allow-interlaced")),
                (" It", " Ib", ("field orders differ", "--allow-interlaced"))):
            reference = self.file("r.y4m", y4m(header=ours))
            distorted = self.file("d.y4m", y4m(header=theirs))
            with self.subTest(theirs):
                self.fails([reference, distorted, "-f", "psnr"], 3, *texts)
                done = run("vqx", reference, distorted, "-f", "psnr", texts[-1], "-o",
                           self.path("o.json"))
                self.assertEqual(done.returncode, 0, stderr(done))
                self.assertIn("note: ", stderr(done))
                with open(self.path("o.json")) as f:
                    self.assertIn("(accepted)", " ".join(json.load(f)["notes"]))

    def test_a_range_that_one_side_leaves_out_is_noted(self):
        done = run("vqx", *self.pair(header=" XCOLORRANGE=FULL"), "-f", "psnr")
        self.assertEqual(done.returncode, 0)
        self.assertIn("has full colour range", stderr(done))

    def test_broken_input_leaves_a_marked_report(self):
        for name, damage in DAMAGES:
            for side in (0, 1):
                with self.subTest(f"{name}, {side}"):
                    pair = self.pair()
                    with open(pair[side], "wb") as f:
                        f.write(damage(y4m()))
                    self.fails_with_partial_report([*pair, "-f", "psnr"], 4, pair[side])

    def test_a_pipe_that_ends_early_leaves_a_marked_report(self):
        report = self.fails_with_partial_report(
            ["-", self.file("d.y4m", y4m()), "-f", "psnr"], 3,
            "standard input ended after 2 frames", "--allow-shorter", stdin=y4m(frames=2))
        self.assertEqual(len(report["frames"]), 2)

    def test_a_named_backend_that_is_missing(self):
        nowhere = {"VQX_BACKEND_PATH": self.folder}
        self.fails([*self.pair(), "-f", "psnr", "--backend", "sycl"], 6, "sycl", env=nowhere)
        done = run("vqx", *self.pair(), "-f", "psnr", "--backend", "auto", env=nowhere)
        self.assertEqual(done.returncode, 0, stderr(done))
        self.assertIn("on cpu", stdout(done))

    def test_adm_refuses_sides_of_17_to_32(self):
        small = self.file("s.y4m", y4m(width=32, height=64))
        self.fails([small, small, "-f", "adm"], 2, "adm", "32")

    def test_models_that_do_not_fit_are_left_out_of_the_defaults(self):
        pair = self.pair(shift=1)
        done = run("vqx", *pair)
        self.assertEqual(done.returncode, 0, stderr(done))
        self.assertIn("vmaf_v1.0.16_3d0h is left out: cambi", stderr(done))
        self.fails([*pair, "-m", "vmaf_v1.0.16_3d0h"], 2, "cambi")

    def test_a_score_that_is_not_finite_is_null(self):
        pair = self.pair()
        done = run("vqx", *pair, "-f", "psnr_hvs", "-o", self.path("o.json"))
        self.assertEqual(done.returncode, 0)
        self.assertIn("warning: frame 0: psnr_hvs is not finite", stderr(done))
        with open(self.path("o.json")) as f:
            self.assertIsNone(json.load(f)["frames"][0]["scores"]["psnr_hvs"])

    def test_reports_on_a_full_disk(self):
        full = self.path("full.json")
        os.symlink("/dev/full", full)
        done = run("vqx", *self.pair(), "-f", "psnr", "-o", full, "-o", self.path("o.csv"))
        self.assertEqual(done.returncode, 5)
        self.assertIn("full.json", stderr(done))
        self.assertIn("psnr_y", stdout(done))
        self.assertTrue(os.path.exists(self.path("o.csv")))

    def test_standard_streams_that_are_closed_or_full(self):
        pair = self.pair()
        command = [os.path.join(BIN, "vqx"), *pair, "-f", "psnr"]
        with open("/dev/full", "w") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, 5)
        self.assertIn("standard output", stderr(done))
        quoted = " ".join(f"'{word}'" for word in command)
        for closing in (">&-", "2>&-", "<&-", ">&- 2>&- <&-"):
            self.assertEqual(subprocess.run(["sh", "-c", f"{quoted} {closing}"], timeout=60,
                                            capture_output=True).returncode, 0, closing)
        for path in pair:
            with open(path, "rb") as f:
                self.assertEqual(f.read(), y4m(), "messages went into a video")

    def test_names_from_files_do_not_drive_the_terminal(self):
        bad = self.file("r.y4m", y4m(tag="420\x1b[31m"))
        self.fails([bad, bad], 3, "420\\x1b[31m")

    def test_an_interrupted_writer_is_an_interrupt(self):
        for program in ("vqx", "vmaf"):
            with self.subTest(program):
                distorted = self.file("d.y4m", y4m())
                command = ["-", distorted, "-f", "psnr"] if program == "vqx" else [
                    "-r", "-", "-d", distorted, "-n", "--feature", "psnr"]
                process = subprocess.Popen([os.path.join(BIN, program), *command],
                                           stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                                           stdout=subprocess.PIPE)
                process.stdin.write(y4m()[:-100])
                process.stdin.flush()
                wait_until_read(process.stdin)
                process.send_signal(signal.SIGINT)
                time.sleep(0.2)
                _, errors = process.communicate(timeout=20)  # closes its standard input
                self.assertEqual(process.returncode, 130)
                self.assertNotIn(b"the file ends", errors)

    def test_a_slice_behind_the_end(self):
        self.fails([*self.pair(), "--first", "3", "-f", "psnr"], 3, "no frame")

    def test_pairs_that_do_not_match_name_both_values_and_the_flag(self):
        self.fails([*self.pair(width=60), "-f", "psnr"], 3, "64 x 48", "60 x 48", "--scale-distorted")
        self.fails([*self.pair(tag="444"), "-f", "psnr"], 3, "4:2:0", "4:4:4", "--pixel-format")
        self.fails([*self.pair(tag="420p10", depth=10), "-f", "psnr"], 3, "8", "10",
                   "--pixel-format")
        self.fails([*self.pair(frames=2), "-f", "psnr"], 3, "2", "3", "--allow-shorter")
        done = run("vqx", *self.pair(frames=2), "-f", "psnr", "--allow-shorter")
        self.assertEqual(done.returncode, 0, stderr(done))
        self.assertIn("2 frames", stdout(done))

    def test_no_frames(self):
        self.fails([self.file("r.y4m", y4m(frames=0)), self.file("d.y4m", y4m(frames=0)), "-f",
                    "psnr"], 3, "frame")

    def test_sample_above_the_depth(self):
        self.fails([self.file("r.y4m", y4m(tag="420p10", depth=10)),
                    self.file("d.y4m", y4m(tag="420p10", depth=10, value=4000)), "-f", "psnr"],
                   4, "4000", "d.y4m")

    def test_sizes_that_a_metric_refuses(self):
        self.fails([*self.pair(), "-f", "ms-ssim"], 2, "float_ms_ssim", "176")
        small = y4m(width=10, height=10)
        self.fails([self.file("r.y4m", small), self.file("d.y4m", small), "-f", "ssim"], 2, "11")

    def test_fail_below(self):
        pair = self.pair(shift=1)
        self.assertEqual(run("vqx", *pair, "-f", "psnr", "--fail-below", "psnr_y=1").returncode, 0)
        self.fails([*pair, "-f", "psnr", "--fail-below", "psnr_y=99"], 1, "psnr_y", "below 99")
        self.fails([*pair, "-f", "psnr", "--fail-below", "psnr_z=1"], 2, "psnr_z", "psnr_y")

    def test_scores_are_printed_without_a_terminal(self):
        done = run("vqx", *self.pair(shift=1), "-f", "psnr")
        self.assertEqual(done.returncode, 0)
        self.assertIn("psnr_y", stdout(done))
        self.assertEqual(stderr(done), "")

    def test_interrupt_leaves_a_marked_report(self):
        for program, number in (("vqx", signal.SIGINT), ("vqx", signal.SIGTERM),
                                ("vmaf", signal.SIGINT)):
            with self.subTest(f"{program} {number}"):
                out = self.path("o.json")
                if os.path.exists(out):
                    os.remove(out)
                distorted = self.file("d.y4m", y4m())
                if program == "vqx":
                    command = ["-", distorted, "-f", "psnr", "-o", out, "--allow-shorter"]
                else:
                    command = ["-r", "-", "-d", distorted, "-n", "--feature", "psnr", "--json",
                               "-o", out]
                process = subprocess.Popen([os.path.join(BIN, program), *command],
                                           stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                                           stdout=subprocess.PIPE)
                data = y4m()
                process.stdin.write(data[:len(data) // 2])  # then it waits for the rest
                process.stdin.flush()
                wait_until_read(process.stdin)
                process.send_signal(number)
                time.sleep(0.2)
                process.stdin.write(data[len(data) // 2:])
                process.stdin.close()
                process.wait(timeout=20)
                process.stdout.close()
                process.stderr.close()
                self.assertEqual(process.returncode, 128 + number)
                if program == "vmaf":
                    self.assertFalse(os.path.exists(out))
                else:
                    with open(out) as f:
                        self.assertIn('"complete": false', f.read())

    def test_commands(self):
        metrics = run("vqx", "metrics")
        self.assertEqual(metrics.returncode, 0)
        self.assertIn("float_ssim", stdout(metrics))
        self.fails(["metrics", "psnrr"], 2, 'did you mean "psnr"?')
        self.assertIn("vqx ", stdout(run("vqx", "--version")))
        sample = run("vqx", "sample", self.folder)
        self.assertEqual(sample.returncode, 0, stderr(sample))
        done = run("vqx", self.path("reference.y4m"), self.path("distorted.y4m"), "-f", "psnr")
        self.assertEqual(done.returncode, 0, stderr(done))


if __name__ == "__main__":
    unittest.main()
