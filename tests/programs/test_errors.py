"""What the programs do when something is wrong: one test a row of the table of errors."""
import array
import fcntl
import os
import signal
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


class Vmaf(ProgramTest):
    def pair(self, **changes):
        self.file("r.y4m", y4m())
        self.file("d.y4m", y4m(**changes))
        return ["-r", self.path("r.y4m"), "-d", self.path("d.y4m"), "-n"]

    def fails(self, arguments, status, *texts):
        out = self.path("never.json")
        done = run("vmaf", *arguments, "--json", "-o", out)
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
                ([*pair, "-m", "version=vmaf_v0.6.1", "-m", "version=vmaf_v0.6.1neg"],
                 "uniquely named")):
            with self.subTest(text):
                self.fails(arguments, 1, text, "Usage:")

    def test_missing_file(self):
        self.fails(["-r", self.path("none.y4m"), "-d", self.path("none.y4m"), "-n"], 255,
                   "none.y4m")

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
        for name, damage in (("truncated", lambda b: b[:-7]),
                             ("stray bytes", lambda b: b + b"xyz"),
                             ("lost framing", lambda b: b.replace(b"FRAME", b"FRAXE", 1))):
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

    def fails(self, arguments, status, *texts):
        done = run("vqx", *arguments)
        self.assertEqual(done.returncode, status, stderr(done))
        for text in texts:
            self.assertIn(text, stderr(done))

    def test_names_are_suggested(self):
        pair = self.pair()
        self.fails([*pair, "--fial-below", "x=1"], 2, "--fail-below")
        self.fails([*pair, "-f", "flaot_ssim"], 2, 'did you mean "float_ssim"?')
        self.fails([*pair, "-f", "psnr=enable_chrome=true"], 2, 'did you mean "enable_chroma"?')
        self.fails([*pair, "-m", "vmaf_v0.6.2"], 2, "vmaf_v0.6.1")

    def test_same_key_twice_is_refused(self):
        self.fails([*self.pair(), "-f", "psnr", "-f", "psnr=enable_mse=true"], 2, "twice")

    def test_inputs_that_cannot_be_read(self):
        self.fails([self.path("none.mp4"), self.path("none.mp4")], 3, "none.mp4")
        text = self.file("text.mp4", b"this is not a video\n" * 20)
        self.fails([text, text, "-f", "psnr"], 3, "text.mp4")

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
