"""measured.py names what is older than its code and refuses an incomplete page: tried on a history of three commits.
Called as test_measured.py SOURCE_TREE."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "tests/docs"))
import measured  # noqa: E402


def git(folder, *words):
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    return subprocess.run(["git", "-C", str(folder), *identity, *words], capture_output=True, text=True, check=True).stdout.strip()


class Ages(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)
        (self.folder / "docs/measured").mkdir(parents=True)
        git(self.folder, "init", "-q")
        first = self.commit("kernel.cpp", "1")
        self.page = {"groups": {"kernel": ["kernel.cpp"], "other": ["other.cpp"]}, "files": {"speed": ["kernel"], "size": ["other"]}}
        self.commit("other.cpp", "1")
        self.figures("speed", first)
        self.figures("size", git(self.folder, "rev-parse", "HEAD"))

    def commit(self, name, text):
        (self.folder / name).write_text(text)
        git(self.folder, "add", "-A")
        git(self.folder, "commit", "-qm", name)
        return git(self.folder, "rev-parse", "HEAD")

    def figures(self, name, commit):
        (self.folder / "docs/measured" / f"{name}.json").write_text(json.dumps({"seconds": 1.0, "measured": {"commit": commit[:12] + "-dirty"}}))

    def test_nothing_is_older_before_its_code_changes(self):
        self.assertEqual(list(measured.older(self.folder, self.page)), [])

    def test_a_change_of_its_code_makes_a_file_older(self):
        self.commit("kernel.cpp", "2")
        self.assertEqual(list(measured.older(self.folder, self.page)), ["OLDER: speed: 1 later commits touch what it measures"])

    def test_a_commit_of_another_history(self):
        self.figures("size", "0123456789ab")
        self.assertEqual(list(measured.older(self.folder, self.page)), ["OLDER: size: measured on a commit that is not in this history"])

    def test_a_front_page_of_two_commits(self):
        self.page["front_page"] = ["speed"]
        self.assertEqual(measured.front_page(self.folder, self.page), [])
        self.page["front_page"] = ["speed", "size"]
        self.assertEqual(measured.front_page(self.folder, self.page), ["OLDER: the front page quotes figures of 2 commits"])

    def test_an_incomplete_page(self):
        self.assertEqual(measured.complaints(self.folder, self.page), [])
        self.figures("new", "0")
        self.page["files"]["gone"] = ["kernel"]
        self.page["groups"]["other"].append("moved.cpp")
        self.assertEqual(measured.complaints(self.folder, self.page), [
            "docs/measured/new.json is missing in docs/measured/code.yaml; name the code that it measures",
            "docs/measured/code.yaml names gone.json, which is not there",
            "docs/measured/code.yaml: the group other names moved.cpp, which is not there"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
