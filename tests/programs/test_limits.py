"""What a run must not need: modules that its inputs do not call for, and memory."""
import os
import subprocess
import unittest

from support import BIN, ProgramTest, run, stderr, y4m

# The metrics whose memory together is bounded.
METRICS = ("psnr", "float_psnr", "float_ssim", "float_ms_ssim", "cambi", "psnr_hvs", "ciede")


class Loading(ProgramTest):
    def loaded(self, program, *arguments):
        """What the dynamic loader opened, as it tells."""
        done = run(program, *arguments, env={"LD_DEBUG": "files"})
        self.assertEqual(done.returncode, 0, stderr(done))
        return stderr(done)

    def test_y4m_and_raw_load_no_module(self):
        video = self.file("v.y4m", y4m())
        raw = self.file("v.yuv", bytes(64 * 48 * 3))
        for arguments in (("vmaf", "-r", video, "-d", video, "-n", "--feature", "psnr"),
                          ("vqx", video, video, "-f", "psnr"),
                          ("vqx", raw, raw, "-f", "psnr", "--raw-size", "64x48"),
                          ("vqx", "--help"), ("vqx", "metrics")):
            with self.subTest(arguments[0] + arguments[-1]):
                loaded = self.loaded(*arguments)
                if "libc.so" not in loaded:
                    self.skipTest("this loader does not tell what it opens")
                self.assertNotIn("libav", loaded)
                self.assertNotIn("libvqx_", loaded)

    def test_ffmpeg_is_loaded_where_a_file_needs_it(self):
        picture = self.file("p.pgm", b"P5 64 48 255\n" + bytes(64 * 48))
        loaded = self.loaded("vqx", picture, picture, "-f", "psnr")
        if "libc.so" in loaded:
            self.assertIn("libavformat", loaded)


def large_pair(test, frames):
    """A pair of y4m files of 4K; bytes of a picture."""
    width, height = 3840, 2160
    picture = width * height * 3 // 2
    head = f"YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 C420\n".encode()
    content = bytes(range(251)) * (picture // 251 + 1)
    return picture, [test.file(name, head + frames * (b"FRAME\n" + content[shift:shift + picture]))
                     for name, shift in (("r.y4m", 0), ("d.y4m", 1))]


class Reading(ProgramTest):
    def test_large_frames_are_read_without_a_word(self):
        _, (reference, distorted) = large_pair(self, 2)
        for backend in ("cpu", "auto", "host"):
            done = run("vmaf", "-r", reference, "-d", distorted, "-n", "--feature", "psnr",
                       "--backend", backend)
            self.assertEqual((done.returncode, stderr(done)), (0, ""), backend)


class Memory(ProgramTest):
    def test_one_thread_holds_at_most_twelve_pictures_of_4k(self):
        picture, paths = large_pair(self, 4)
        arguments = [word for metric in METRICS for word in ("-f", metric)]
        # In a process of its own: the peak counts all children that were waited for.
        script = ("import resource, subprocess, sys;"
                  "status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode;"
                  "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss);"
                  "sys.exit(status)")
        done = subprocess.run(["python3", "-c", script, os.path.join(BIN, "vqx"), *paths, "-t", "1",
                               *arguments], capture_output=True, timeout=300)
        self.assertEqual(done.returncode, 0, stderr(done))
        self.assertLessEqual(int(done.stdout) * 1024, 12 * picture)


if __name__ == "__main__":
    unittest.main()
