"""Compiles the device pass of every unit that holds kernels, for CUDA and HIP, and writes the table as JSON.

usage: compile.py SOURCE BUILD OUTPUT.json [--backend cuda|hip] [--only TEXT] [--jobs N]
A Kokkos for the back end is looked for in CAMBIUM_PORTABILITY_KOKKOS_CUDA or _HIP, then in Kokkos_ROOT: an installed
prefix, of which only the headers are read. Exit code 77: none is there, or no compiler for it.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from units import kernel_units, text_of  # noqa: E402

DEVICE = {"cuda": "KOKKOS_ENABLE_CUDA", "hip": "KOKKOS_ENABLE_HIP"}


def kokkos_of(backend):
    """(prefix, why not)"""
    names = [f"CAMBIUM_PORTABILITY_KOKKOS_{backend.upper()}", "Kokkos_ROOT"]
    for name in names:
        prefix = os.environ.get(name, "")
        config = os.path.join(prefix, "include", "KokkosCore_config.h")
        if prefix and re.search(rf"^#define {DEVICE[backend]}\b", text_of(config), re.M):
            return prefix, ""
    return None, f"no Kokkos with {backend.upper()}: set {names[0]} to a prefix where one is installed"


def compiler_of(backend):
    """(command without files, its first line of --version), or (None, why not)"""
    if backend == "cuda":
        nvcc = shutil.which(os.environ.get("CAMBIUM_NVCC", "nvcc"))
        if not nvcc:
            return None, "no nvcc on the PATH"
        return [nvcc, "-x", "cu", "--extended-lambda", "--expt-relaxed-constexpr", "-std=c++20", "-arch=sm_90", "-ptx",
                "-O1", "-Xcompiler", "-march=x86-64-v3", "-DFMT_CONSTEVAL=", "-diag-suppress", "20011,20012,20014,20208"], nvcc
    for name in ["clang++"] + [f"clang++-{v}" for v in range(25, 15, -1)]:
        clang = shutil.which(os.environ.get("CAMBIUM_HIP_CLANG", name))
        if not clang:
            continue
        version = subprocess.run([clang, "--version"], capture_output=True, text=True).stdout
        if int((re.search(r"version (\d+)", version) or [0, 0])[1]) < 16:
            continue
        command = [clang, "-x", "hip", "--cuda-device-only", "--offload-arch=gfx90a", "-std=c++20", "-O1", "-emit-llvm",
                   "-march=x86-64-v3", "-Wno-everything"]
        rocm = os.environ.get("ROCM_PATH", "/usr")
        libraries = glob.glob(f"{rocm}/lib/*/amdgcn/bitcode") + glob.glob(f"{rocm}/amdgcn/bitcode")
        command += [f"--rocm-path={rocm}"] + [f"--rocm-device-lib-path={path}" for path in libraries[:1]]
        return command, clang
    return None, "no clang 16 or newer on the PATH"


def compile_unit(command, kokkos, path, flags):
    """(worked, what the compiler said)"""
    words = command + ["-c"] * ("-ptx" not in command) + flags + ["-isystem", f"{kokkos}/include", "-o", "/dev/null", path]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=900)
    except subprocess.TimeoutExpired:
        return False, "longer than 15 minutes"
    said = done.stderr + done.stdout
    errors = [line for line in said.splitlines() if re.search(r"\berror\b|fatal", line)]
    return done.returncode == 0, "" if done.returncode == 0 else "\n".join(errors[:4] or [said[-400:]])


def run_leg(backend, units, source, build, jobs):
    kokkos, why = kokkos_of(backend)
    command, compiler = compiler_of(backend)
    if kokkos is None or command is None:
        return {"backend": backend, "skipped": why or compiler}
    rows = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        tries = [(path, pool.submit(compile_unit, command, kokkos, path, flags)) for path, flags in units]
        for path, future in tries:
            worked, said = future.result()
            inside = os.path.relpath(path, build)
            name = inside if not inside.startswith("..") else os.path.relpath(path, source)
            rows.append({"unit": name, "compiles": worked, **({} if worked else {"error": said})})
            print(f"  {name:70} {backend:5} {'compiles' if worked else 'REFUSED'}", flush=True)
            if not worked:
                print("      " + said.replace("\n", "\n      "), flush=True)
    good = sum(row["compiles"] for row in rows)
    print(f"{backend}: {good} of {len(rows)} units with kernels compile", flush=True)
    return {"backend": backend, "units": len(rows), "compile": good, "rows": rows}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("build")
    parser.add_argument("output")
    parser.add_argument("--backend", action="append", choices=list(DEVICE))
    parser.add_argument("--only", default="", help="units whose path holds this")
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    source, build = os.path.abspath(args.source), os.path.abspath(args.build)
    units = [unit for unit in kernel_units(source, build) if args.only in unit[0]]
    print(f"{len(units)} units hold kernels")
    legs = [run_leg(backend, units, source, build, args.jobs) for backend in args.backend or list(DEVICE)]
    with open(args.output, "w", encoding="utf-8") as file:
        json.dump({"units": len(units), "legs": legs}, file, indent=1)
    for leg in legs:
        if "skipped" in leg:
            print(f"SKIPPED: {leg['backend']}: {leg['skipped']}")
    if all("skipped" in leg for leg in legs):
        sys.exit(77)
    sys.exit(any(leg.get("compile", 0) < leg.get("units", 0) for leg in legs))


if __name__ == "__main__":
    main()
