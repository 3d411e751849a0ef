#!/bin/bash
# What to run where a card is at hand: on_a_card.sh [KOKKOS_SOURCE]. Builds Kokkos (where Kokkos_ROOT names none) and Cambium
# for the card, then the oracle tests of kernels and the figures of the issue, each part at most ten minutes; every part says PASSED,
# FAILED or LEFT OUT, and what it measured lies in $OUT (card/ where that is not set). The exit code counts the parts that failed.
#   PARTS="kokkos build oracles rates"   which parts; one call each where a machine is lent for minutes only
#   BACKEND=cuda|hip                     found by nvcc or hipcc where it is not set
#   ARCH=HOPPER90                        Kokkos' name of the card; asked of nvidia-smi where it is not set
set -u
source=$(cd "$(dirname "$0")/../.." && pwd)
out=${OUT:-$source/card}
parts=${PARTS:-kokkos build oracles rates}
backend=${BACKEND:-$(command -v nvcc >/dev/null && echo cuda || (command -v hipcc >/dev/null && echo hip))}
jobs=$(nproc)
failed=0
mkdir -p "$out"

say() { echo "$1: $2" | tee -a "$out/parts.txt"; }
part() {  # part NAME COMMAND...: at most ten minutes
  local name=$1 code
  shift
  timeout 600 "$@" >"$out/$name.log" 2>&1
  code=$?
  if [ $code -eq 0 ]; then say PASSED "$name"; else
    say FAILED "$name (code $code): $(tail -n 1 "$out/$name.log")"
    failed=$((failed + 1))
  fi
  return $code
}

if [ -z "$backend" ]; then
  say "LEFT OUT" "everything: there is neither nvcc nor hipcc"
  exit 0
fi
if [ -z "${ARCH:-}" ] && command -v nvidia-smi >/dev/null; then
  case $(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1) in
    8.0) ARCH=AMPERE80 ;; 8.6) ARCH=AMPERE86 ;; 8.9) ARCH=ADA89 ;; 9.0) ARCH=HOPPER90 ;; 10.0) ARCH=BLACKWELL100 ;;
  esac
fi
if [ -z "${ARCH:-}" ]; then
  say "LEFT OUT" "everything: name the card with ARCH=, as Kokkos calls it (HOPPER90, AMD_GFX90A)"
  exit 0
fi
kokkos=${Kokkos_ROOT:-$source/build-$backend/kokkos}

if [[ $parts == *kokkos* && -z ${Kokkos_ROOT:-} ]]; then
  if [ -d "${1:-}" ]; then
    part kokkos bash -c "cmake -S '$1' -B '$kokkos/build' -DBUILD_SHARED_LIBS=ON -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=20 \
      -DCMAKE_INSTALL_PREFIX='$kokkos' -DKokkos_ENABLE_SERIAL=ON -DKokkos_ENABLE_${backend^^}=ON -DKokkos_ARCH_$ARCH=ON \
      $([ "$backend" = hip ] && echo -DCMAKE_CXX_COMPILER=hipcc) && cmake --build '$kokkos/build' -j $jobs --target install"
  else
    say "LEFT OUT" "kokkos: neither Kokkos_ROOT nor a folder with its source"
  fi
fi
build=$source/build-$backend
if [[ $parts == *build* ]]; then
  part build bash -c "cmake --preset $backend -S '$source' -B '$build' -DKokkos_ROOT='$kokkos' -DCAMBIUM_TORCH=OFF \
    && cmake --build '$build' -j $jobs"
fi
if [ ! -x "$build/bin/cambium" ]; then
  say "LEFT OUT" "oracles, rates: there is no $build/bin/cambium"
  exit $failed
fi
if [[ $parts == *oracles* ]]; then
  part doctor "$build/bin/cambium" doctor "$out"
  part oracles ctest --test-dir "$build" --timeout 300 -j 4 -E 'system|style|docs|messages|long|portability' -L fast
fi
if [[ $parts == *rates* ]]; then
  part rates python3 "$source/tests/portability/card_rates.py" "$build/bin/cambium" "$out/rates" "$out/rates.json"
  tee -a "$out/parts.txt" <"$out/rates.log"
  part training python3 "$source/tests/portability/card_training.py" "$build/bin/cambium" "$out/training" "$out/training.json"
  tee -a "$out/parts.txt" <"$out/training.log"
fi
exit $failed
