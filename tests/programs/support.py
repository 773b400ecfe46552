"""What the program tests share: running programs, making small videos, the shared folder."""
import os
import subprocess
import tempfile
import unittest

BIN = os.environ.get("VQX_BIN_DIR", "build/release/bin")
SHARED = os.environ.get("VQX_SHARED_DIR", "../shared")
CLIPS = os.path.join(SHARED, "clips")


def run(program, *arguments, stdin=None, env=None, timeout=120):
    """A finished process; standard output and error as text."""
    return subprocess.run([os.path.join(BIN, program), *map(str, arguments)], input=stdin,
                          capture_output=True, timeout=timeout,
                          env={**os.environ, **(env or {})})


def stderr(process):
    return process.stderr.decode(errors="replace")


def stdout(process):
    return process.stdout.decode(errors="replace")


def frame_bytes(width, height, chroma="420", depth=8, value=None, index=0):
    """Planes of one frame in file order; a moving ramp, or all `value`."""
    chroma_width, chroma_height = {"420": ((width + 1) // 2, (height + 1) // 2),
                                   "422": ((width + 1) // 2, height),
                                   "444": (width, height), "400": (0, 0)}[chroma]
    peak = (1 << depth) - 1
    out = bytearray()
    for w, h in ((width, height), (chroma_width, chroma_height), (chroma_width, chroma_height)):
        for y in range(h):
            for x in range(w):
                v = (x * 7 + y * 3 + index * 5) % (peak + 1) if value is None else value
                out += v.to_bytes(1 if depth == 8 else 2, "little")
    return bytes(out)


def y4m(width=64, height=48, frames=3, tag="420", depth=8, header="", value=None, chroma=None,
        shift=0):
    """A YUV4MPEG2 file's bytes."""
    chroma = chroma or tag[:3]
    text = f"YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 C{tag}{header}\n".encode()
    for i in range(frames):
        text += b"FRAME\n" + frame_bytes(width, height, chroma, depth, value, i + shift)
    return text


class ProgramTest(unittest.TestCase):
    """Has a temporary folder; writes files into it."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = self._folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, name, content):
        with open(self.path(name), "wb") as f:
            f.write(content)
        return self.path(name)

    def clip(self, name):
        path = os.path.join(CLIPS, name)
        if not os.path.exists(path):
            self.skipTest(f"{path} is missing: the folder with clips is not beside the repository")
        return path
