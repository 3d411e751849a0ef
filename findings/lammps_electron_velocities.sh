#!/usr/bin/env bash
# LAMMPS 29 Sep 2021 (Debian 20220106), units electron: in what unit velocities are.
# The manual: Bohr per atomic time unit of 1.03275e-15 s, with time in femtoseconds. ASE 3.22.1 converts by that.
# Most would expect one argon atom of 1 Bohr per 1.03275 fs to have the kinetic energy m v^2 / 2 of that velocity.
# Seen: temperatures are those of 1 Bohr per femtosecond: 1.0666 times as high (1.03275 squared), consistent with positions that move by
# velocity times femtoseconds. Files that follow the manual are 6.7 % too hot.
# What it means: write Bohr/fs into Velocities of such files.
. "$(dirname "$0")/debian.sh"
packages lammps=20220106.git7586adbb6a+ds1-2+b2
cat >argon.data <<'DATA'
argon

1 atoms
1 atom types

0 20 xlo xhi
0 20 ylo yhi
0 20 zlo zhi

Masses

1 39.948

Atoms # atomic

1 1 1 1 1

Velocities

1 0.001 0 0
DATA
cat >in.argon <<'INPUT'
units electron
atom_style atomic
atom_modify map array
read_data argon.data
pair_style zero 5.0
pair_coeff * *
compute kinetic all ke
variable kinetic equal c_kinetic
variable moved equal x[1]-1
fix 1 all nve
timestep 1
thermo 100
thermo_style custom step c_kinetic
run 100
print "KINETIC ${kinetic} MOVED ${moved}"
INPUT
export OPAL_PREFIX=$root/usr OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
found=$(unpacked lmp -in in.argon -log none 2>/dev/null | sed -n 's/^KINETIC \([^ ]*\) MOVED \([^ ]*\)$/\1 \2/p')
seen "moved in 100 fs: 0.1000 Bohr
kinetic energy over m v^2 / 2 of 0.001 Bohr/fs: 1.0000
kinetic energy over m v^2 / 2 of 0.001 Bohr/1.03275 fs: 1.0666" "$(awk '{
  mass = 39.948 * 1.66053906660e-27; bohr = 5.29177210903e-11; hartree = 4.3597447222071e-18
  fs = 0.5 * mass * (0.001 * bohr / 1e-15)^2 / hartree
  printf "moved in 100 fs: %.4f Bohr\n", $2
  printf "kinetic energy over m v^2 / 2 of 0.001 Bohr/fs: %.4f\n", $1 / fs
  printf "kinetic energy over m v^2 / 2 of 0.001 Bohr/1.03275 fs: %.4f\n", $1 / fs * 1.03275^2 }' <<<"$found")"
