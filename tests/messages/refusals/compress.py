"""What is said about keys `compress` of decks, about `cambium compress` and `decompress`, and about files that were packed elsewhere."""
# needs: superres
import h5py
import numpy as np
from table import Table

DECK = """
run: {name: flow, directory: out}
plugins: [superres]
stages:
  - simulate:
      physics: rayleigh_benard
      rayleigh: 1e5
      aspect_ratio: 2
      cells: [16, 8]
      initial: {noise: 0.1}
      end_time: 1
      sample_interval: 0.25
      output: [{type: fields, interval: 0.25, compress: {relative: 1e-3}}]
"""
VERIFY = """
run: {name: verify, directory: verify}
plugins: [superres]
stages:
  - verify: {data: packed.h5, equations: ["dt(b) = 0"]}
"""
C = "stages[0].simulate.output[0].compress"
table = Table("compress", DECK)
says = table.says
table.file("verify.yaml", VERIFY)
table.file("plain.h5", {"a": np.sin(0.01 * np.arange(5000)), "few": np.arange(10.0)})
table.file("taken.h5", {"a": [1.0]})

# Decks
ONE_OF = "give one of 'relative', 'absolute' and 'psnr', for example {relative: 1e-4}, or {type: lossless}"
says(ONE_OF, C + "={}")
says(ONE_OF, C + "={relative: 1e-3, psnr: 60}")
for key, value in {"groups": 5, "network": "linear", "fit": "first_frame", "budget": "2 s", "strict": "false"}.items():
    says(f"'{key}' is for learned corrections; add type: learned, or remove it", C + f"={{relative: 1e-3, {key}: {value}}}")
for bound in ("relative", "absolute", "psnr"):
    says(f"'{bound}' is an error bound, and type: lossless has none; remove one of them", C + f"={{type: lossless, {bound}: 1e-3}}")
says("'compress.fit: first_frame' is for output 'fields' of convection; take every_frame",
     "stages[0].simulate.output=[{type: vtkhdf, every: 1, compress: {relative: 1e-3, type: learned, fit: first_frame}}]")
says(("compress.type: ", "learned"), C + "={relative: 1e-3, type: learnt}")
says(("compress.relative: ", "0"), C + "={relative: 0}")
says(("compress.psnr: ", "-60"), C + "={psnr: -60}")
says(("compress.groups: ", "40"), C + "={relative: 1e-3, type: learned, groups: 40}")
says(("compress.budget: ", "0"), C + "={relative: 1e-3, type: learned, budget: 0 s}")

# Files
says("'relative' is no key=value; write for example relative=1e-3", command=["compress", "plain.h5", "new.h5", "relative"])
says("'relative=' is no key=value; write for example relative=1e-3", command=["compress", "plain.h5", "new.h5", "relative="])
says(("relatve: ", "relative"), command=["compress", "plain.h5", "new.h5", "relatve=1e-3"])
says("'taken.h5' exists; give the name of a new file, or remove it", command=["compress", "plain.h5", "taken.h5", "relative=1e-3"])
says("cannot make the file 'none/new.h5': No such file or directory; choose a folder that exists and that you may write to",
     command=["compress", "plain.h5", "none/new.h5", "relative=1e-3"])
says("--fewest: Value 0 not in range 1 to 1099511627776\nRun with --help for more information.",
     command=["compress", "plain.h5", "new.h5", "--fewest", "0", "relative=1e-3"])
says("'plain.h5' holds nothing that Cambium compressed; every program with HDF5 reads it as it is",
     command=["decompress", "plain.h5", "new.h5"])
with h5py.File(table.path("huge.h5"), "w") as file:
    file.create_dataset("u", shape=(30000, 30000), dtype="f4", chunks=(100, 100))
says("'/u' in 'huge.h5': a frame of 3.6 GB is too large to be compressed in one piece (at most 2); store it as a series of frames that "
     "can grow along its first dimension", command=["compress", "huge.h5", "new.h5", "relative=1e-3"])

# Benches
says("bench codec: budget is 0; give seconds above 0", command=["bench", "codec", "budget=0"])

# A filter that is not there
with h5py.File(table.path("packed.h5"), "w") as file:
    for name in "pbuw":
        file.create_dataset("tasks/" + name, data=np.ones((4, 16, 8)), compression="lzf")
    file["scales/sim_time"] = 0.5 * np.arange(4)
    file["scales/x"], file["scales/z"] = np.arange(16) / 8, (np.arange(8) + 0.5) / 8
says("'/tasks/p' in 'packed.h5' was compressed by the filter 32000 (lzf), which this HDF5 has not; name the folder of the filter's library in "
     "HDF5_PLUGIN_PATH (in Python: hdf5plugin.PLUGINS_PATH), or write the file without it where it can be read: h5repack -f NONE",
     deck="verify.yaml", command="run")
# Copied as it is stored until its numbers are read.
says(("packed.h5", "the filter that it was packed with is not here (", "); name the folder of the filter's library in HDF5_PLUGIN_PATH, or let "
      "the program that wrote the file unpack it; what Cambium compressed becomes a plain file with `cambium decompress`"),
     command=["compress", "packed.h5", "fresh.h5", "relative=1e-3", "--fewest", "1"])

table.run()
