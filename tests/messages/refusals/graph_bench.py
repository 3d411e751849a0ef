"""What `cambium bench graph` says about options that cannot work."""
# needs: graph
from table import Table

table = Table("graph_bench")
BENCH = ["bench", "graph"]
table.says("bench graph: graphs names 'corra'; there are cora, chameleon, chameleon_ordered, facebook, gowalla, molecules, mesh, and all",
           command=[*BENCH, "graphs=corra,mesh"])
table.says("bench graph: widths is '16,0'; give whole numbers from 1 to 4096, as widths=16,64,128", command=[*BENCH, "widths=16,0"])
table.says("bench graph: mesh_nodes is 3; give 4 to 100000000", command=[*BENCH, "mesh_nodes=3"])
table.says("bench graph measures one rank: call it without mpirun", command=BENCH, ranks=2)
table.run()
