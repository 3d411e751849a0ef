"""A build folder of the first deck (`./quickstart`) becomes that of everything (`./quickstart all`): every library that a program is linked with is
one of the build. Called as reconfigured.py SOURCE CMAKE FOLDER"""
import pathlib
import re
import shutil
import subprocess
import sys

source, cmake, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
script = (source / "quickstart").read_text()
first, everything = (re.findall(r"-D\S+", line) for line in re.findall(r"options\+=\((-DCAMBIUM_PLUGINS=.*)\)", script))
assert "-DCAMBIUM_TESTS=OFF" in first and "-DCAMBIUM_TESTS=ON" in everything, script
shutil.rmtree(folder, ignore_errors=True)
for options in (first, everything):
    done = subprocess.run([cmake, "-S", source, "-B", folder, "-G", "Ninja", *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
build = (folder / "build.ninja").read_text()
missing = sorted(name for name in set(re.findall(r"-l(cambium_\w+)", build)) if not re.search(rf"^build lib/lib{name}\.", build, re.M))
assert not missing, f"linked, but of no target: {missing}"
assert "bin/test_lossy:" in build or "build bin/test_lossy" in build, "the tests are not there"
shutil.rmtree(folder)
print("ok")
