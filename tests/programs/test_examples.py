"""The library as its users meet it: the examples, and a program built against an installation."""
import json
import os
import re
import subprocess
import unittest

from support import BIN, ProgramTest, run, stderr, stdout

BUILD = os.path.dirname(os.path.abspath(BIN))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = os.path.join(BUILD, "examples")


class LibraryTest(ProgramTest):
    def call(self, *arguments, **options):
        done = subprocess.run(arguments, capture_output=True, timeout=300, check=False, **options)
        self.assertEqual(done.returncode, 0, stdout(done) + stderr(done))
        return stdout(done)

    def report_of_vmaf(self, reference, distorted, *arguments):
        out = self.path("out.json")
        done = run("vmaf", "-r", reference, "-d", distorted, *arguments, "--json", "-o", out)
        self.assertEqual(done.returncode, 0, stderr(done))
        with open(out) as f:
            return json.load(f)

    def sample_pair(self):
        done = run("vqx", "sample", self.folder)
        self.assertEqual(done.returncode, 0, stderr(done))
        return self.path("reference.y4m"), self.path("distorted.y4m")

    def check_score_files(self, program, **options):
        """What examples/score_files prints is what `vmaf` reports."""
        reference, distorted = self.sample_pair()
        pooled = self.report_of_vmaf(reference, distorted,
                                     "--feature", "psnr=enable_chroma=false")["pooled_metrics"]
        expected = "".join("{}: mean {:.6f}, min {:.6f}\n".format(
            key, pooled[key]["mean"], pooled[key]["min"]) for key in ("vmaf", "psnr_y"))
        self.assertEqual(self.call(program, reference, distorted, **options), expected)


class Examples(LibraryTest):
    def test_score_files(self):
        self.check_score_files(os.path.join(EXAMPLES, "score_files"))

    def test_score_files_tells_what_is_wrong(self):
        done = subprocess.run([os.path.join(EXAMPLES, "score_files"), "none.y4m", "none.y4m"],
                              capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("none.y4m", stderr(done))

    def test_push_frames(self):
        """The example's pictures as files: the same score for each frame."""
        width, height, frames = 640, 360, 5
        for name, step in (("r.y4m", 1), ("d.y4m", 8)):
            content = f"YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 Cmono\n".encode()
            for i in range(frames):
                rows = (bytes((x + y + 3 * i) % 256 // step * step for x in range(width))
                        for y in range(height))
                content += b"FRAME\n" + b"".join(rows)
            self.file(name, content)
        report = self.report_of_vmaf(self.path("r.y4m"), self.path("d.y4m"))
        expected = "".join(f"frame {i}: {frame['metrics']['vmaf']:.6f}\n"
                           for i, frame in enumerate(report["frames"]))
        self.assertEqual(len(report["frames"]), frames)
        self.assertEqual(self.call(os.path.join(EXAMPLES, "push_frames")), expected)


class Installation(LibraryTest):
    """`cmake --install` into an empty folder, and examples/score_files built against it."""

    def setUp(self):
        super().setUp()
        self.prefix = self.path("prefix")
        self.call("cmake", "--install", BUILD, "--prefix", self.prefix)
        self.example = os.path.join(ROOT, "examples", "score_files.cpp")

    def find(self, name):
        for folder, _, files in os.walk(self.prefix):
            if name in files:
                return folder
        self.fail(f"{name} is not installed")

    def test_programs(self):
        reference, distorted = self.sample_pair()
        for program, arguments in (("vqx", [reference, distorted, "-f", "psnr"]),
                                   ("vmaf", ["-r", reference, "-d", distorted])):
            with self.subTest(program):
                self.call(os.path.join(self.prefix, "bin", program), *arguments)

    def test_find_package(self):
        build = self.path("consumer")
        self.call("cmake", "-S", os.path.join(ROOT, "tests", "install"), "-B", build,
                  f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DEXAMPLE={self.example}")
        self.call("cmake", "--build", build)
        self.check_score_files(os.path.join(build, "consumer"))

    def test_pkg_config(self):
        environment = {**os.environ, "PKG_CONFIG_PATH": self.find("vqx.pc")}
        flags = self.call("pkg-config", "--cflags", "--libs", "vqx", env=environment).split()
        self.assertTrue(any(re.fullmatch(r"-L.*prefix.*", flag) for flag in flags), flags)
        program = self.path("consumer")
        self.call("c++", "-std=c++20", self.example, "-o", program, *flags)
        self.check_score_files(program)


if __name__ == "__main__":
    unittest.main()
