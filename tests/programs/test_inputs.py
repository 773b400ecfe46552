"""Videos of all kinds, made with the ffmpeg program: read exactly, or refused with a reason."""
import json
import os
import shutil
import subprocess
import unittest

from support import ProgramTest, run, stderr, stdout

WIDTH, HEIGHT, FRAMES = 160, 96, 6


@unittest.skipUnless(shutil.which("ffmpeg"), "the ffmpeg program is not installed")
class Inputs(ProgramTest):
    def setUp(self):
        super().setUp()
        self.source = self.make("source.y4m", "-f", "lavfi", "-i",
                                f"testsrc2=size={WIDTH}x{HEIGHT}:rate=25", "-frames:v", FRAMES,
                                "-pix_fmt", "yuv420p", keep=False)

    def make(self, name, *arguments, keep=True):
        """A file that ffmpeg writes, from the source unless said otherwise."""
        path = self.path(name)
        words = (["-i", self.source] if keep else []) + [str(a) for a in arguments]
        done = subprocess.run(["ffmpeg", "-v", "error", "-y", *words, path], capture_output=True,
                              timeout=120)
        if b"Unknown encoder" in done.stderr:
            self.skipTest(f"this ffmpeg cannot write {name}")
        self.assertEqual(done.returncode, 0, stderr(done))
        return path

    def score(self, reference, distorted, *more):
        """The report of a psnr run; its process in self.done."""
        out = self.path("o.json")
        self.done = run("vqx", reference, distorted, "-f", "psnr", "-o", out, *more)
        self.assertEqual(self.done.returncode, 0, stderr(self.done))
        with open(out) as f:
            return json.load(f)

    def refused(self, reference, distorted, *texts, more=(), status=3):
        done = run("vqx", reference, distorted, "-f", "psnr", *more)
        self.assertEqual(done.returncode, status, stderr(done))
        for text in texts:
            self.assertIn(text, stderr(done))

    def test_lossless_files_are_read_to_the_bit(self):
        for name, arguments in (("v.mkv", ["-c:v", "ffv1"]),
                                ("v.mp4", ["-c:v", "libx264", "-qp", "0"]),
                                ("v.mov", ["-c:v", "libx264", "-qp", "0"]),
                                ("v.ts", ["-c:v", "libx264", "-qp", "0", "-bf", "2"]),
                                ("v.webm", ["-c:v", "libvpx-vp9", "-lossless", "1", "-cpu-used",
                                            "8"]),
                                ("v.ivf", ["-c:v", "libvpx-vp9", "-lossless", "1", "-cpu-used",
                                           "8"]),
                                ("v.avi", ["-c:v", "rawvideo", "-pix_fmt", "nv12"]),
                                ("v.nut", ["-c:v", "rawvideo", "-pix_fmt", "nv21"])):
            with self.subTest(name):
                video = self.make(name, *arguments)
                report = self.score(self.source, video)
                self.assertEqual(len(report["frames"]), FRAMES)
                for key in ("psnr_y", "psnr_cb", "psnr_cr"):
                    self.assertEqual(report["pooled"][key]["min"], 60, key)
                self.assertIn("libavformat", report["environment"]["ffmpeg"])
                done = run("vmaf", "-r", self.source, "-d", video, "-n", "--feature", "psnr",
                           "--csv", "-o", self.path("o.csv"))
                self.assertEqual(done.returncode, 0, stderr(done))
                with open(self.path("o.csv")) as f:
                    self.assertIn(f"{FRAMES - 1},60.000000,60.000000,60.000000,", f.read())

    def test_packed_422_is_taken_apart(self):
        reference = self.make("r.mkv", "-c:v", "ffv1", "-pix_fmt", "yuv422p")
        for packed in ("yuyv422", "uyvy422"):
            video = self.make("p.nut", "-c:v", "rawvideo", "-pix_fmt", packed)
            self.assertEqual(self.score(reference, video)["pooled"]["psnr_cr"]["min"], 60)

    def test_images(self):
        first = ("-frames:v", "1", "-update", "1")
        for name in ("i.png", "i.bmp", "i.tiff"):
            with self.subTest(name):
                image = self.make(name, *first, "-pix_fmt", "rgb24" if name != "i.bmp" else "bgr24")
                self.refused(image, image, "rgb24" if name != "i.bmp" else "bgr24", "--pixel-format")
                report = self.score(image, image, "--pixel-format", "yuv444p")
                self.assertIn("converted from", report["reference"]["conversion"])
        photo = self.make("i.jpg", *first, "-pix_fmt", "yuvj420p")
        self.assertEqual(self.score(photo, photo)["reference"]["range"], "full")

    def test_turned_videos_are_turned_back(self):
        plain = self.make("v.mp4", "-c:v", "libx264", "-qp", "0")
        turned = self.make("t.mp4", "-i", plain, "-c", "copy", "-metadata:s:v:0", "rotate=180",
                           keep=False)
        report = self.score(self.make("f.y4m", "-vf", "hflip,vflip"), turned)
        self.assertEqual(report["pooled"]["psnr_y"]["min"], 60)
        self.assertEqual(report["distorted"]["rotation_applied"], "180")
        odd = self.make("o.mp4", "-i", plain, "-c", "copy", "-metadata:s:v:0", "rotate=45",
                        keep=False)
        self.refused(plain, odd, "turned by an odd angle")

    def test_cropping_that_the_stream_asks_for_is_done(self):
        cropped = self.make("c.mp4", "-c:v", "libx264", "-qp", "0", "-bsf:v",
                            "h264_metadata=crop_right=32:crop_bottom=16")
        report = self.score(self.make("c.y4m", "-vf", f"crop={WIDTH - 32}:{HEIGHT - 16}:0:0"),
                            cropped)
        self.assertEqual(report["pooled"]["psnr_y"]["min"], 60)

    def test_colour_that_differs_is_refused(self):
        def video(name, matrix, transfer, primaries, range_):
            return self.make(name, "-c:v", "libx264", "-qp", "0", "-colorspace", matrix,
                             "-color_trc", transfer, "-color_primaries", primaries, "-color_range",
                             range_)
        sdr = video("a.mp4", "bt709", "bt709", "bt709", "tv")
        hdr = video("b.mp4", "bt2020nc", "smpte2084", "bt2020", "tv")
        full = video("c.mp4", "bt709", "bt709", "bt709", "pc")
        self.refused(sdr, hdr, "matrices differ: bt709", "bt2020nc", "transfer functions differ",
                     "smpte2084", "primaries differ", "--allow-colour-mismatch")
        self.refused(sdr, full, "colour ranges differ: limited", "full", "--allow-colour-mismatch")
        self.assertEqual(
            len(self.score(sdr, hdr, "--allow-colour-mismatch")["notes"]), 3)

    def test_interlaced_video_is_refused(self):
        video = self.make("i.mp4", "-c:v", "libx264", "-flags", "+ilme+ildct")
        self.refused(video, video, "is interlaced", "--allow-interlaced")
        self.score(video, video, "--allow-interlaced")

    def test_conversions_that_are_named(self):
        small = self.make("s.mkv", "-vf", f"scale={WIDTH // 2}:{HEIGHT // 2}", "-c:v", "ffv1")
        deep = self.make("d.mkv", "-pix_fmt", "yuv420p10le", "-c:v", "ffv1")
        self.refused(self.source, small, "160 x 96", "80 x 48", "--scale-distorted")
        self.refused(self.source, deep, "8 bits", "10 bits", "--pixel-format yuv420p10")
        scores = {self.score(self.source, small, "--scale-distorted", filter_)["pooled"]["psnr_y"]
                  ["mean"] for filter_ in ("bicubic", "lanczos", "bilinear")}
        self.assertEqual(len(scores), 3)
        report = self.score(self.source, deep, "--pixel-format", "yuv420p10")
        self.assertEqual(report["pooled"]["psnr_y"]["min"], 72)
        self.assertIn("converted", report["reference"]["conversion"])

    def test_rates(self):
        fast = self.make("f.mp4", "-r", "30", "-i", self.source, "-c:v", "libx264", keep=False)
        self.refused(self.source, fast, "frame rates differ: 25", "30", "--allow-rate-mismatch")
        self.score(self.source, fast, "--allow-rate-mismatch")
        variable = self.make("v.mp4", "-vf", "setpts='if(lt(N,3),N,N*3)/25/TB'", "-vsync", "vfr",
                             "-c:v", "libx264")
        report = self.score(self.source, variable)
        self.assertIn("variable frame rate: frames are paired by their index", stderr(self.done))
        self.assertIn("variable frame rate", report["notes"][0])

    def test_fewer_frames_than_the_other(self):
        short = self.make("s.mkv", "-c:v", "ffv1", "-frames:v", "4")
        self.refused(self.source, short, "ended after 4 frames", "--allow-shorter")
        self.assertEqual(len(self.score(self.source, short, "--allow-shorter")["frames"]), 4)

    def test_broken_files_break_the_run(self):
        # Each frame carries checksums.
        whole = self.make("w.mkv", "-c:v", "png", "-pix_fmt", "gray")
        damaged = self.path("b.mkv")
        with open(whole, "rb") as f:
            content = f.read()
        def spoil(position):
            return content[:position] + b"\0" * 50 + content[position + 50:]
        broken = {"cut": content[:len(content) * 2 // 3],
                  "damaged in the middle": spoil(len(content) // 2),
                  # The decoder notices only when it is told that nothing follows.
                  "damaged in the last frame": spoil(len(content) - 2000)}
        for name, bytes_ in broken.items():
            with self.subTest(name):
                with open(damaged, "wb") as f:
                    f.write(bytes_)
                out = self.path("o.json")
                done = run("vqx", whole, damaged, "-f", "psnr", "-o", out)
                self.assertEqual(done.returncode, 4, stderr(done))
                self.assertIn("b.mkv: frame ", stderr(done))
                with open(out) as f:
                    report = json.load(f)
                self.assertIs(report["complete"], False)
                self.assertLess(len(report["frames"]), FRAMES)
                self.assertGreater(len(report["frames"]), 0)
                out = self.path("v.json")
                done = run("vmaf", "-r", whole, "-d", damaged, "-n", "--feature", "psnr",
                           "-o", out)
                self.assertEqual(done.returncode, 234, stderr(done))
                self.assertIn("problem while reading pictures", stderr(done))
                self.assertFalse(os.path.exists(out))

    def test_a_truncated_mp4_has_no_index(self):
        whole = self.make("w.mp4", "-c:v", "libx264")
        cut = self.path("cut.mp4")
        with open(whole, "rb") as source, open(cut, "wb") as target:
            target.write(source.read()[:-2000])
        self.refused(self.source, cut, "cut.mp4: ", "FFmpeg can open")

    def test_sound_beside_the_video_does_not_matter(self):
        video = self.make("a.mkv", "-f", "lavfi", "-i", "sine", "-c:v", "ffv1", "-c:a", "pcm_s16le",
                          "-shortest")
        self.assertEqual(self.score(self.source, video)["pooled"]["psnr_y"]["min"], 60)

    def test_progress_knows_the_length_of_an_mp4(self):
        video = self.make("v.mp4", "-c:v", "libx264")
        done = run("vqx", video, video, "-f", "psnr")
        self.assertEqual(done.returncode, 0)
        self.assertIn(f"{FRAMES} frames", stdout(done))


if __name__ == "__main__":
    unittest.main()
