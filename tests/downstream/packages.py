#!/usr/bin/env python3
"""What an installation brings for clusters: packages.py PREFIX SOURCE SCRATCH CC CMAKE.

Every part is tried with the program that uses it; a part whose program is missing says so and counts as skipped.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path

PREFIX, SOURCE, SCRATCH = (Path(word).resolve() for word in sys.argv[1:4])
COMPILER, CMAKE = sys.argv[4:6]
PROGRAM = PREFIX / "bin" / "cambium"
SHARE = PREFIX / "share"
skipped = []


def needs(program, package):
    """Whether a program is there; notes what was left out where it is not."""
    if shutil.which(program):
        return True
    skipped.append(f"{program} (Debian: {package})")
    return False


def output(*words, where=SCRATCH, status=0, **more):
    done = subprocess.run([str(word) for word in words], cwd=where, capture_output=True, text=True, **more)
    assert done.returncode == status, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def holds(text, *words):
    for word in words:
        assert word in text, f"'{word}' is not in:\n{text}"


def commands():
    """Commands that --help names."""
    listed = output(PROGRAM, "--help").split("Subcommands:")[1].split("\n\n")[0]
    return re.findall(r"^  (\S+)", listed, re.M)


def test_version_names_the_commit():
    assert re.fullmatch(r"cambium \d+\.\d+\.\d+ \(commit ([0-9a-f]{12}(-dirty)?|unknown)\)\n", output(PROGRAM, "--version"))


def bash_completes(*words):
    script = f"source {SHARE}/bash-completion/completions/cambium; COMP_WORDS=({' '.join(repr(w) for w in words)}); " \
             f"COMP_CWORD={len(words) - 1}; compopt() {{ :; }}; _cambium; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    return output("bash", "-c", script).split()


def test_bash_completes():
    assert bash_completes("cambium", "rest") == ["restart"]
    assert set(commands()) <= set(bash_completes("cambium", ""))
    assert bash_completes("cambium", "run", "--over") == ["--overwrite"]
    (SCRATCH / "mine.yaml").write_text("")
    (SCRATCH / "mine.txt").write_text("")
    assert bash_completes("cambium", "run", "mi") == ["mine.yaml"]
    assert bash_completes("cambium", "doc", "potentia") == ["potential"]
    assert bash_completes("cambium", "doc", "potential", "lennard") == ["lennard_jones"]


def test_zsh_completes():
    if not needs("zsh", "zsh"):
        return
    script = f"autoload -U compinit; compinit -u -d {SCRATCH}/zcompdump; source {SHARE}/zsh/site-functions/_cambium; " \
             "compadd() { print -l -- $@; }; words=(cambium doc potential ''); CURRENT=4; _cambium_types; " \
             "print -- ${_comps[cambium]}"
    holds(output("zsh", "-f", "-c", script), "lennard_jones", "_cambium")


def test_fish_completes():
    if not needs("fish", "fish"):
        return
    home = {**os.environ, "HOME": str(SCRATCH), "XDG_CONFIG_HOME": str(SCRATCH), "XDG_DATA_HOME": str(SCRATCH)}
    file = SHARE / "fish" / "vendor_completions.d" / "cambium.fish"

    def completes(line):
        return re.findall(r"^(\S+)", output("fish", "--no-config", "-c", f"source {file}; complete -C '{line}'", env=home), re.M)

    assert completes("cambium rest") == ["restart"]
    assert completes("cambium run --over") == ["--overwrite"]
    assert completes("cambium doc potential lennard") == ["lennard_jones"]


def test_the_manual_page_names_every_command():
    page = SHARE / "man" / "man1" / "cambium.1"
    if not needs("groff", "groff-base"):
        return
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", str(page)], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    text = " ".join(re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout).replace("\u2010", "-").split())
    holds(text, "EXIT STATUS", "EXAMPLES", "SEE ALSO", "CAMBIUM_PLUGIN_PATH", "--overwrite", *(f"cambium {name}" for name in commands()))


def test_pkg_config_builds_a_program_in_c():
    if not needs("pkg-config", "pkgconf") or not needs("mpicc", "libopenmpi-dev"):
        return
    found = {**os.environ, "PKG_CONFIG_PATH": str(next(PREFIX.glob("lib*/**/pkgconfig")))}
    flags = output("pkg-config", "--cflags", "--libs", "cambium-train", env=found).split()
    for source in (SOURCE / "tests" / "train" / "session" / "session_from_c.c", SOURCE / "tests" / "apps" / "potential_from_c.c"):
        output("mpicc", source, *flags, "-lm", "-o", SCRATCH / "from_pkg_config")
        output(SCRATCH / "from_pkg_config")


def test_cmake_builds_a_program_in_c():
    folder = SCRATCH / "from_cmake"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    source = SOURCE / "tests" / "train" / "session" / "session_from_c.c"
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(from_c LANGUAGES C CXX)\nfind_package(cambium REQUIRED)\n"
        f"add_executable(from_c {source})\ntarget_link_libraries(from_c PRIVATE cambium::train m)\n")
    output(CMAKE, "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={PREFIX}", f"-DCMAKE_C_COMPILER={COMPILER}")
    output(CMAKE, "--build", folder / "build")
    output(folder / "build" / "from_c")


def test_the_module_file_loads():
    command = next((path for path in (shutil.which("modulecmd"), "/usr/lib/x86_64-linux-gnu/modulecmd.tcl",
                                      "/usr/share/modules/libexec/modulecmd.tcl", "/usr/lib/modules/modulecmd.tcl")
                    if path and os.path.exists(path)), None)
    if not command:
        skipped.append("modulecmd (Debian: environment-modules)")
        return
    bare = {**os.environ, "MODULEPATH": str(SHARE / "cambium" / "modulefiles")}
    script = output(command, "sh", "load", "cambium", env=bare)
    said = output("bash", "-c", f"{script}\ntype -p cambium; echo $MANPATH; cambium --version", env=bare)
    holds(said, str(PROGRAM), str(SHARE / "man"), "cambium 0.")


def test_decks_and_machines_are_found_by_name():
    holds(output(PROGRAM, "list", "decks"), "md/copper_melting", "kinetic/landau")
    run = SCRATCH / "by_name"
    shutil.rmtree(run, ignore_errors=True)
    holds(output(PROGRAM, "run", "md/copper_melting", "--test-size", f"run.directory={run}"), "Loop ")
    holds(output(PROGRAM, "plan", "train/transformer", "--machine", "frontier", "--ranks", "8"), "Frontier")


def test_a_notebook_runs_from_the_installation():
    work = SCRATCH / "notebooks"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    quick = {**os.environ, "CAMBIUM_TUTORIAL_QUICK": "1", "CAMBIUM_TUTORIAL_RUNS": str(work)}
    quick.pop("CAMBIUM", None)
    done = subprocess.run([sys.executable, SOURCE / "tests" / "system" / "run_notebook.py",
                           SHARE / "cambium" / "tutorials" / "01_first_run.ipynb", work], env=quick, capture_output=True, text=True)
    if done.returncode == 77:
        skipped.append(done.stdout.strip())
        return
    assert done.returncode == 0, done.stdout + done.stderr


def cmake_refuses(arch, compiler="c++"):
    """What CMake says of a value of CAMBIUM_ARCH; nothing where it takes it."""
    folder = SCRATCH / "arch"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.22)\nproject(arch LANGUAGES CXX)\ninclude({SOURCE}/core/cmake/CambiumArch.cmake)\n"
        'cambium_require_known_arch("${CAMBIUM_ARCH}")\n')
    done = subprocess.run([CMAKE, "-S", folder, "-B", folder / "build", f"-DCAMBIUM_ARCH={arch}", f"-DCMAKE_CXX_COMPILER={compiler}"],
                          capture_output=True, text=True)
    return "" if done.returncode == 0 else " ".join(done.stderr.split())


def test_an_unknown_instruction_set_is_refused_with_the_word_that_the_compiler_has():
    if platform.machine() != "x86_64":
        skipped.append("x86-64 processor, whose -march words are tried")
        return
    for arch in ("native", "x86-64-v3", "skylake-avx512", ""):
        assert not cmake_refuses(arch), arch
    for spack, ours in {"x86_64_v3": "x86-64-v3", "icelake": "icelake-server", "skylake_avx512": "skylake-avx512", "zen3": "znver3"}.items():
        holds(cmake_refuses(spack), f"CAMBIUM_ARCH is '{spack}', which", "does not take as -march",
              f"-DCAMBIUM_ARCH={ours} is the nearest that it knows, an empty one the compiler's default")
    holds(cmake_refuses("zen9"), "-DCAMBIUM_ARCH=znver")  # the newest that this compiler has
    holds(cmake_refuses("bogus"), "name one that it knows, or leave it empty for the compiler's default", "x86-64-v3")


# Targets of Spack 0.23 (archspec) that are no words of -march: https://github.com/archspec/archspec-json
SPACK_TARGETS = ("x86_64", "x86_64_v3", "x86_64_v4", "zen3", "zen4", "icelake", "skylake_avx512", "neoverse_v1", "a64fx", "power9le")


class Spec:
    """What Spack would have decided."""

    variants = {"plugins": types.SimpleNamespace(value=("md",))}

    def __contains__(self, text):
        return False


def spack_package(target="zen4"):
    """Spack's package, read with stand-ins for Spack's words; what it declares."""
    said = {"variants": set(), "needs": set(), "defined": {}}
    words = types.ModuleType("spack.package")

    class CMakePackage:
        def define(self, name, value):
            said["defined"][name] = value

        def define_from_variant(self, name, variant):
            assert variant in said["variants"], variant
            said["defined"][name] = variant

    def nothing(*_, **__):
        pass

    words.CMakePackage = CMakePackage
    words.variant = lambda name, **_: said["variants"].add(name)
    words.depends_on = lambda spec, **_: said["needs"].add(re.match(r"[\w-]+", spec).group(0))
    words.license = words.version = words.conflicts = words.generator = nothing
    sys.modules["spack"] = types.ModuleType("spack")
    sys.modules["spack.package"] = words
    names = {}
    exec((SOURCE / "packaging/spack/packages/cambium/package.py").read_text(), names)
    package = names["Cambium"]()
    package.run_tests = False
    package.spec = Spec()
    package.spec.target = types.SimpleNamespace(name=target)
    package.cmake_args()
    return said


def test_the_spack_package_follows_the_build():
    said = spack_package()
    files = [SOURCE / "CMakeLists.txt", *(SOURCE / "core" / "cmake").glob("*.cmake")]
    options = set(re.findall(r"(?:option|set)\((CAMBIUM_\w+)", "".join(file.read_text() for file in files)))
    assert set(said["defined"]) <= options, set(said["defined"]) - options
    for target in SPACK_TARGETS:  # their flags come from Spack's compiler wrappers
        assert spack_package(target)["defined"]["CAMBIUM_ARCH"] == "", target
    searched = re.findall(r"cambium_find\((\S+)", (SOURCE / "core/cmake/CambiumDependencies.cmake").read_text())
    spack = {"MPI": "mpi", "BLAS": "openblas", "LAPACK": "openblas", "nlohmann_json": "nlohmann-json", "CLI11": "cli11",
             "Kokkos": "kokkos", "HDF5": "hdf5"}
    wanted = {spack.get(name, name) for name in searched if name != "Threads"} | {"random123", "zstd"}
    assert wanted <= said["needs"], wanted - said["needs"]
    plugins = re.search(r"cambium_choose_plugins\(([^)]*)\)", (SOURCE / "plugins/CMakeLists.txt").read_text()).group(1).split()
    text = (SOURCE / "packaging/spack/packages/cambium/package.py").read_text()
    assert all(f'"{plugin}"' in text for plugin in plugins), plugins


def test_the_image_builds_with_options_that_exist():
    text = (SOURCE / "packaging/cambium.def").read_text()
    root = (SOURCE / "CMakeLists.txt").read_text()
    for option in re.findall(r"-D(CAMBIUM_\w+)=", text):
        holds(root, f"({option} ")
    for section in ("%setup", "%post", "%runscript", "%test"):
        holds(text, section)


def test_the_image_takes_no_builds_and_runs_of_the_checkout():
    """The section %setup, in a made-up checkout."""
    checkout, root = SCRATCH / "checkout", SCRATCH / "root"
    for name in ("core/io/a.cpp", "core/build/kept.cpp", ".git/HEAD", "inputs/runs/kept.yaml", "build/bin/cambium", "build-asan/lib/a.so",
                 "runs/a/thermo.csv", "install/bin/cambium", "tutorials/runs/a.h5", "tutorials/a.ipynb", "apps/python/__pycache__/a.pyc",
                 "cambium-doctor-1/report.txt"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text("")
    section = re.search(r"^%setup\n(.*?)^%", (SOURCE / "packaging/cambium.def").read_text(), re.M | re.S).group(1)
    output("sh", "-ec", section, where=checkout, env={**os.environ, "APPTAINER_ROOTFS": str(root)})
    copied = {str(path.relative_to(root / "opt/cambium/source")) for path in root.rglob("*") if path.is_file()}
    assert copied == {"core/io/a.cpp", "core/build/kept.cpp", ".git/HEAD", "inputs/runs/kept.yaml", "tutorials/a.ipynb"}, copied
    for pattern in (SOURCE / ".gitignore").read_text().split():
        holds(section, "." + pattern.rstrip("/") if pattern.startswith("/") else pattern.rstrip("/"))


if __name__ == "__main__":
    shutil.rmtree(SCRATCH, ignore_errors=True)
    SCRATCH.mkdir(parents=True)
    tests = {name: call for name, call in sorted(globals().items()) if name.startswith("test_")}
    for name, call in tests.items():
        call()
        print(f"passed: {name}", flush=True)
    for what in skipped:
        print(f"left out, there is no {what}")
