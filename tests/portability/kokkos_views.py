"""The check at configure for a Kokkos whose Views g++ 12 breaks, on configurations made here: which are refused, with which words.

usage: kokkos_views.py SOURCE CMAKE FOLDER
"""
import os
import subprocess
import sys

SCRIPT = """
set(CMAKE_CXX_COMPILER_ID {compiler})
set(CMAKE_CXX_COMPILER_VERSION {version})
include({source}/core/cmake/CambiumKokkosCheck.cmake)
cambium_check_kokkos_views({config} said)
if(said)
  message(FATAL_ERROR "${{said}}")
endif()
"""
REFUSED = [("GNU", "12.2.0", "40699", ""), ("GNU", "12.3.0", "40700", ""), ("GNU", "12.2.0", "50000", "")]
LEGACY = "#define KOKKOS_ENABLE_IMPL_VIEW_LEGACY\n"
TAKEN = [("GNU", "12.2.0", "40699", LEGACY), ("GNU", "13.1.0", "40700", ""), ("Clang", "12.0.1", "40700", ""),
         ("GNU", "12.2.0", "40601", ""), ("GNU", "12.2.0", "40600", "")]


def try_one(source, cmake, folder, case):
    compiler, version, kokkos, more = case
    config = os.path.join(folder, "KokkosCore_config.h")
    with open(config, "w", encoding="utf-8") as file:
        file.write(f"#define KOKKOS_VERSION {kokkos}\n#define KOKKOS_VERSION_MAJOR {kokkos[0]}\n" + more)
    script = os.path.join(folder, "try.cmake")
    with open(script, "w", encoding="utf-8") as file:
        file.write(SCRIPT.format(compiler=compiler, version=version, source=source, config=config))
    done = subprocess.run([cmake, "-P", script], capture_output=True, text=True)
    return done.returncode, " ".join(done.stderr.split())


def main():
    source, cmake, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    for case in REFUSED:
        status, said = try_one(source, cmake, folder, case)
        assert status != 0, case
        for words in ("-DKokkos_ENABLE_IMPL_VIEW_LEGACY=ON", "g++ 13 or newer", case[1], case[2]):
            assert words in said, (words, said)
    for case in TAKEN:
        assert try_one(source, cmake, folder, case) == (0, ""), case
    print(f"{len(REFUSED)} refused, {len(TAKEN)} taken")


if __name__ == "__main__":
    main()
