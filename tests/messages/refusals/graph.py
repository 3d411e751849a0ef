"""What the plugin graph says about decks, graphs and meshes that cannot work."""
# needs: graph
import base64
import struct

import numpy

from table import Table

DIFFUSION = """
run: {name: heat, directory: out}
plugins: [graph]
stages:
  - simulate:
      physics: graph_diffusion
      graph: {ring: {nodes: 12}}
      parameters: {beta: 0.5}
      species: [{name: u, diffusion: 1, initial: sin(2*pi*node/12)}]
      end_time: 1
"""
TRANSPORT = """
run: {name: dye, directory: dye}
plugins: [graph]
stages:
  - simulate:
      physics: mesh_transport
      mesh: {rectangle: {cells: [4, 4]}}
      stream: sin(pi*x)*sin(pi*y)
      initial: x
      end_time: 0.1
"""
S = "stages[0].simulate."
U = S + "species[0]."

table = Table("graph", DIFFUSION)
says = table.says
table.file("dye.yaml", TRANSPORT)


def transport(message, *overrides, **options):
    says(message, *overrides, deck="dye.yaml", **options)


# Keys of graph_diffusion
says("the graph needs exactly one of 'ring', 'grid', 'random' and 'file'", S + "graph={ring: {nodes: 12}, file: a.edges}")
says("the graph needs exactly one of 'ring', 'grid', 'random' and 'file'", S + "graph={}")
says("'neighbours' on both sides together must be fewer than the other nodes", S + "graph={ring: {nodes: 6, neighbours: 3}}")
says("'nodes' needs one to three values", S + "graph={grid: {nodes: [2, 2, 2, 2]}}")
says("a graph has at most 2147483647 nodes; give fewer 'nodes'", S + "graph={grid: {nodes: [2000, 2000, 2000]}}")
says("weight: '1 - 2*d' is not a positive number for every length d from 0 to 1", S + "graph={random: {nodes: 50, weight: 1 - 2*d}}")
says("'species' is empty; give at least one", S + "species=[]")
says("a species cannot be called 'x': that is the name of something else; give it its own", U + "name=x")
says("a species cannot be called 'town/S'; take letters, digits and _, beginning with a letter", U + "name=town/S")
says("a species cannot be called ''; take letters, digits and _, beginning with a letter", U + "name=''")
says("a parameter cannot be called 'u': that is the name of something else; give it its own", S + "parameters={u: 1}")
says("spots of 'u': there is no node 12, they are numbered 0 to 11", U + "spots={nodes: [3, 12]}")
says("2 nodes cannot be shared by 3 ranks; use more nodes or at most 2 ranks", S + "graph={grid: {nodes: [2]}}", command="run", ranks=3)
says("'timestep' is missing: nothing limits the length of these implicit steps", S + "method=implicit")
says("'timestep' is missing: nothing diffuses and nothing flows, so no step is too long", U + "diffusion=0")
says("timestep 1 is longer than the longest stable step, 0.6275; take a shorter one, none, or 'method: implicit'", S + "timestep=1")
says(("stages[0].simulate.species[0].reaction: there is no variable 'v'; known: u, t, x, y, z, beta\n    beta*u*v\n           ^"), U + "reaction=beta*u*v")
says(("stages[0].simulate.species[0].initial: there is no variable 'qq'; known: x, y, z, node, beta\n    1 + qq\n        ^"), U + "initial=1 + qq")
says("u is not finite any more after step 10 (t = 5) at node 0; take a shorter 'timestep' or a smaller 'cfl'", U + "diffusion=0.01",
     U + "reaction=100*exp(u)", S + "timestep=0.5", S + "end_time=50", command="run", code=4)
says("u is not finite at the start, at node 0; correct the formulas, or the file, that it begins with", U + "initial=log(node)", command="run", code=4)
for type in ("h5md", "extxyz"):
    says(f"output '{type}' shows atoms, and this physics has none; take 'vtkhdf' or an output of the physics' own", S + f"output=[{{type: {type}}}]",
         command="run")
says("conjugate gradients: the right-hand side is not finite any more; take a shorter 'timestep'", U + "reaction=100*exp(exp(u))",
     S + "timestep=0.5", S + "method=implicit", S + "end_time=50", command="run", code=4)
says(("conjugate gradients: the residual is ", " of the right-hand side after 2000 steps, not 1e-15; take a shorter 'timestep' or a larger 'tolerance'"), U + "diffusion=1", S + "graph={grid: {nodes: [5000]}}", U + "initial=sin(node^2)",
     S + "method=implicit", S + "timestep=1e12", S + "end_time=1e12", S + "tolerance=1e-15", command="run", code=4)
says("'every' and 'interval' exclude each other; leave one out", S + "output=[{type: node_fields, every: 2, interval: 0.1}]")

# Graphs of files
def edges(message, text, *overrides, name="g.edges"):
    table.file(f"{len(table.cases)}.{name}", text)
    says(message.replace("FILE", f"{len(table.cases)}.{name}"), S + f"graph={{file: {len(table.cases)}.{name}}}", *overrides)


edges("FILE:2: expected a whole number for a node, found 'one'; number names, as pandas.factorize does", "0 1\n1 one\n")
edges("FILE:1: 'u v' or 'u v weight' was expected, but the line has 1 word; is the file cut short?", "0\n")
edges("FILE:3: the weight -2 is negative; heat would flow towards what is warmer", "0 1\n# more\n1 2 -2\n")
edges("FILE:1: expected a number for the weight of an edge, found 'nan'", "0 1 nan\n")
edges("FILE:2: node indices start at 0, found -1", "0 1\n-1 2\n")
edges("FILE:1: node 0 comes before the first one, 1; set 'first_index' to the index of the first node", "0 1\n1 2\n", S + "graph.first=1")
edges("FILE:1: node 3000000000 is more than 2147483647; remove 'first_index', so that nodes are those that edges name", "3000000000 1\n", S + "graph.first=0")
edges("'FILE' holds no edge; give lines 'i j [weight]'", "# nothing\n")
edges("'FILE': the edge between nodes 0 and 1 has the weight 1 in one direction and 2 in the other; give it one weight, this graph has no directions",
      "0 1 1\n1 0 2\n")
edges("'FILE': row 1 of edges names node 3, but nodes are 0 to 2", {"edges": [[0, 1], [1, 3]], "positions": [[0.0], [1.0], [2.0]]}, name="g.h5")
edges("'FILE' has 2 edges and 1 weights; give one weight for each edge", {"edges": [[0, 1], [1, 2]], "weights": [1.0]}, name="g.h5")
edges("'FILE': the weight of row 0 of edges is nan; it must be 0 or more", {"edges": [[0, 1]], "weights": [float("nan")]}, name="g.h5")
edges("'FILE': edges must have two nodes in each row", {"edges": [0, 1]}, name="g.h5")
edges("'FILE': positions must have one row of one to three coordinates for each node", {"edges": [[0, 1]], "positions": [0.0, 1.0]}, name="g.h5")
edges("'FILE': the position of node 1 is not finite", {"edges": [[0, 1]], "positions": [[0.0], [float("nan")]]}, name="g.h5")
edges("'FILE' holds 2 positions, but its attribute nodes is 3; make both the same", {"/": (0, {"nodes": 3}), "edges": [[0, 1]], "positions": [[0.0], [1.0]]},
      name="g.h5")
edges("'FILE' holds no edge", {"edges": numpy.zeros((0, 2), int)}, name="g.h5")

# Beginning with a file
table.begins("run.directory=earlier", S + "output=[{type: node_fields, every: 1}]")
says("start_from: 'earlier/simulate/nodes.h5' does not hold snapshots of the 13 nodes of this deck", S + "graph.ring.nodes=13",
     S + "start_from=earlier/simulate/nodes.h5", command="run")
says("start_from: 'earlier/simulate/nodes.h5' has no array 'w'; give a file of the output 'node_fields'", U + "name=w",
     S + "start_from=earlier/simulate/nodes.h5", command="run")
says("'end_time' is 0.05, and the run begins at t = 1, the time of 'earlier/simulate/nodes.h5': give a later one, or another 'start_time'",
     S + "end_time=0.05", S + "start_from=earlier/simulate/nodes.h5", command="run")
says("'end_time' is 0.05, and the run begins at t = 2: give a later one, or another 'start_time'", S + "end_time=0.05", S + "start_time=2",
     command="run")
table.file("timeless.h5", {"u": [[0.0] * 12]})
says("start_from: 'timeless.h5' has no array 'time'; give a file of the output 'node_fields'", S + "start_from=timeless.h5", command="run")

# Keys of mesh_transport
transport("the mesh needs exactly one of 'rectangle', 'disc' and 'file'", S + "mesh={}")
transport("mesh rectangle: refine: 'y > 2' holds for no triangle (their middles reach from x = 0.08333 to 0.9167 and from y = 0.08333 to "
          "0.9167); correct it, make it wider, or leave it out", S + "mesh.refine=[{where: y > 2}]")
transport("stages[0].simulate.mesh.refine[0].where: there is no variable 'z'; known: x, y\n    z < 1\n    ^", S + "mesh.refine=[{where: z < 1}]")
transport("'hole' must be smaller than 'radius'", S + "mesh={disc: {rings: 3, hole: 1}}")
transport("'velocity' needs two formulas, along x and along y", S + "velocity=[1]")
transport("'velocity' and 'stream' exclude each other; leave one out", S + "velocity=[1, 0]")
transport("diffusivity: 'x - 0.5' is -0.333333 at x = 0.1667, y = 0.08333; it must be 0 or more", S + "diffusivity=x - 0.5")
transport("a boundary has one of 'value', 'flux' and 'outflow'; give one, or none for a closed wall",
          S + "boundaries={left: {value: 1, outflow: true}}")
transport("boundaries: the mesh has no boundary 'lift'; did you mean 'left'?", S + "boundaries={lift: {value: 1}}")
transport("boundaries: 'inlet': 'y < -1' holds for no edge of the boundary (their middles reach from x = 0 to 1 and from y = 0 to 1); correct it, "
          "make it wider, or leave it out", S + "boundaries={inlet: {value: 1, where: y < -1}}")
transport("a parameter cannot be called 'x': that is the name of something else; give it its own", S + "parameters={x: 3}")
transport("the flow is not finite everywhere at t = 0; correct 'stream'", S + "stream=log(x)*y", command="run")
transport("the flow is not finite everywhere at t = 0; correct 'velocity'", S + "stream=null", S + "velocity=[log(x - 2), 0]",
          S + "diffusivity=1", command="run")
transport("timestep 5 is longer than the longest stable step, 0.08627; take a shorter one, none, or 'method: implicit'", S + "timestep=5")
transport("timestep 5 is longer than the longest stable step, 0.05176; take a shorter one, or none", S + "timestep=5", S + "method=implicit")
transport(("stages[0].simulate.source: there is no variable 'qq'; known: x, y, t, c\n    qq\n    ^"), S + "source=qq")
transport("'m.stl' is neither a Gmsh file (.msh) nor a VTK one (.vtu); convert the mesh, for example with meshio", S + "mesh={file: m.stl}")
transport("'.' is a folder; name a mesh file in it", S + "mesh={file: .}")

# Gmsh
HEAD = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
NODES = "$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n9 0.5 0.5 0\n$EndNodes\n"
FOUR = ["1 2 2 1 1 1 2 9", "2 2 2 1 1 2 3 9", "3 2 2 1 1 3 4 9", "40 2 2 1 1 4 1 9"]


def elements(*lines):
    return f"$Elements\n{len(lines)}\n" + "".join(line + "\n" for line in lines) + "$EndElements\n"


def mesh(message, text, name="m.msh", **options):
    name = f"{len(table.cases)}{name}"
    table.file(name, text)
    transport(message.replace("FILE", name), S + f"mesh={{file: {name}}}", **options)


mesh("'FILE' does not begin with $MeshFormat, so it is no Gmsh mesh; save it from Gmsh as .msh", "solid\n")
mesh("FILE:2: MSH version 4 is not read; save version 4.1 or 2.2 (gmsh -format msh41)", HEAD.replace("2.2", "4"))
mesh("FILE:2: a binary MSH file is not read; save it as ASCII (gmsh -save ... without -bin)", HEAD.replace("2.2 0", "2.2 1"))
mesh("'FILE' ends before its $Nodes; the file is cut short: save the mesh again", HEAD)
mesh("'FILE' ends before its $Elements; the file is cut short: save the mesh again", HEAD + NODES)
mesh("'FILE' ends in the middle of its $Nodes; the file is cut short: save the mesh again", (HEAD + NODES)[:-30])
mesh("'FILE' ends in the middle of its $Elements; the file is cut short: save the mesh again", HEAD + NODES + elements(*FOUR)[:-14])
mesh("FILE:6: expected 4 values in a line of the $Nodes, found 3", HEAD + NODES.replace("1 0 0 0", "1 0 0"))
mesh("FILE:7: expected a number for y, found 'zero'", HEAD + NODES.replace("2 1 0 0", "2 1 zero 0"))
mesh("FILE:14: node 7 is not among the 5 nodes of this file", HEAD + NODES + elements(*[FOUR[0][:-1] + "7", *FOUR[1:]]))
mesh("FILE:14: element 1 has Gmsh's type 3; only triangles of three nodes (2) can be used, and lines of two (1) for the boundary: mesh with "
     "first order and without recombination", HEAD + NODES + elements("1 3 2 1 1 1 2 3 4"))
mesh("FILE:14: element 1 has too few nodes", HEAD + NODES + elements("1 2 2 1 1 1 2"))
mesh("FILE:17: the $Elements have more lines than their count in the file; the file is damaged: save the mesh again",
     HEAD + NODES + elements(*FOUR).replace("$Elements\n4", "$Elements\n3"))
mesh("FILE:6: expected a name in quotation marks", HEAD + "$PhysicalNames\n1\n1 7 inlet\n$EndPhysicalNames\n")
mesh("mesh 'FILE' holds no triangle", HEAD + NODES + elements("1 1 2 1 1 1 2"))
mesh("mesh 'FILE': triangles 1 and 2 lie on the same side of their common edge between nodes 9 and 2, so the mesh is folded there; move its nodes, "
     "or mesh the domain again", HEAD + NODES.replace("9 0.5 0.5", "9 0.5 -0.5") + elements(*FOUR))
mesh("mesh 'FILE': triangle 5 has the same nodes as triangle 2; remove one of them", HEAD + NODES + elements(*FOUR, "5 2 2 1 1 9 2 3"))
mesh("mesh 'FILE': triangle 5 is the third one at the edge between nodes 9 and 1; triangles may not overlap",
     HEAD + NODES.replace("5\n1", "6\n7 2 0.2 0\n1", 1) + elements(*FOUR, "5 2 2 1 1 9 1 7"))
mesh("mesh 'FILE': triangle 1 has no area; mesh the domain again, or remove it", HEAD + NODES.replace("9 0.5 0.5", "9 0.5 0") + elements(*FOUR))
mesh("mesh 'FILE': node 9 lies at z = 0.25, others at z = 0; this physics needs a plane z = constant",
     HEAD + NODES.replace("9 0.5 0.5 0", "9 0.5 0.5 0.25") + elements(*FOUR))
mesh("'FILE' ends in the middle of its $Comments; the file is cut short: save the mesh again", HEAD + "$Comments\n")

mesh("FILE:4: the mesh is divided into partitions, whose curves carry no names; save it unpartitioned (gmsh -part 0)", HEAD.replace("2.2", "4.1") + "$PartitionedEntities\n")
mesh("FILE:6: curve 1 states 2 physical groups, but lists 1; is the file cut short?",
     HEAD.replace("2.2", "4.1") + "$Entities\n0 1 0 0\n1 0 0 0 1 0 0 2 7\n$EndEntities\n")
TWO = HEAD + "$PhysicalNames\n3\n1 7 \"south\"\n1 8 \"all\"\n1 9 \"cut\"\n$EndPhysicalNames\n" + NODES + elements(
    *FOUR, "41 1 2 7 1 1 2", "42 1 2 8 1 1 2", "43 1 2 9 2 1 9")
table.file("two.msh", TWO)
transport("boundaries: the edge at x = 0.5, y = 0 belongs to 'south' and to 'all', which set different conditions; leave one out, or select its part by "
          "'where'", S + "mesh={file: two.msh}", S + "boundaries={south: {value: 1}, all: {value: 2}}")
transport("boundaries: no line of 'cut' is an edge of the boundary: they lie inside the mesh, or join nodes that are no edge of a triangle; correct "
          "the mesh, or leave 'cut' out", S + "mesh={file: two.msh}", S + "boundaries={cut: {value: 1}}")

# VTU
VTU = """<?xml version="1.0"?>
<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian"><UnstructuredGrid><Piece NumberOfPoints="3" NumberOfCells="1">
<Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">0 0 0 1 0 0 0 1 0</DataArray></Points>
<Cells><DataArray type="Int64" Name="connectivity" format="ascii">0 1 2</DataArray><DataArray type="Int64" Name="offsets"
format="ascii">3</DataArray><DataArray type="UInt8" Name="types" format="ascii">5</DataArray></Cells></Piece></UnstructuredGrid></VTKFile>
"""


def vtu(message, before="", after="", **options):
    assert before in VTU
    mesh(message, VTU.replace(before, after, 1) if before else VTU, name="m.vtu", **options)


table.file("good.vtu", VTU)
transport("boundaries: the mesh names no part of its boundary, so there is no 'left'; define it by 'where': left: {where: x < 0.001, ...}",
          S + "mesh={file: good.vtu}", S + "boundaries={left: {value: 1}}")
vtu("'FILE' is no VTK file of an unstructured grid (.vtu); convert the mesh, for example with meshio", VTU, "<xml/>")
vtu("'FILE' ends before </VTKFile>; the file is cut short: save the mesh again", "</VTKFile>")
vtu("'FILE' is compressed (vtkZLibDataCompressor); save it without compression (meshio: compression=None)", 'version="0.1"',
    'version="0.1" compressor="vtkZLibDataCompressor"')
vtu("'FILE' has appended data; save it with inline data (ParaView: data mode ASCII, or binary)", "</VTKFile>", "<AppendedData/></VTKFile>")
vtu("'FILE' has several pieces, as of several processes; save it as one piece", "</Piece>", "</Piece><Piece></Piece>")
vtu("'FILE' is in big-endian order; save it as LittleEndian", "LittleEndian", "BigEndian")
vtu("'FILE' has points without three coordinates each", "0 0 0 1 0 0 0 1 0", "0 0 1 0")
vtu("'FILE' has 'one' where a number was expected", "0 0 0 1 0 0 0 1 0", "0 0 0 one 0 0 0 1 0")
vtu("'FILE' has an array of format 'raw'; save it as ascii or binary", 'format="ascii">0 0 0', 'format="raw">0 0 0')
vtu("'FILE' has the character '*' in base64 data", 'format="ascii">0 0 0 1', 'format="binary">*')
vtu("'FILE' has base64 data without a length", 'format="ascii">0 0 0 1 0 0 0 1 0', 'format="binary">AA')
vtu("'FILE' has 3 bytes of base64 data where 48 were announced; the file is cut short: save the mesh again",
    'format="ascii">0 0 0 1 0 0 0 1 0', 'format="binary">MAAAAAAAAA==')
vtu("'FILE' has an array of type 'String', which is not read", 'type="Float64" NumberOfComponents="3" format="ascii">0 0 0 1 0 0 0 1 0',
    'type="String" format="binary">AAAAAA==')
vtu("mesh 'FILE': the coordinates of node 1 are not finite", 'type="Float64" NumberOfComponents="3" format="ascii">0 0 0 1 0 0 0 1 0',
    'type="Float32" format="binary">' + base64.b64encode(struct.pack("<I9f", 36, 0, 0, 0, float("inf"), 0, 0, 0, 1, 0)).decode())
vtu("'FILE' has no array of offsets", 'Name="offsets"', 'Name="ends"')
vtu("'FILE' has an array without an end", "5</DataArray>", "5")
vtu("'FILE' has 1 offsets and 2 types of cells; the file is damaged", ">5<", ">5 5<")
vtu("'FILE' has a cell, 0, of VTK's type 9; only triangles (5) can be used, and lines (3) for the boundary", ">5<", ">9<")
vtu("'FILE' has a cell, 0, with too few nodes; the file is damaged", ">3<", ">2<")
vtu("'FILE' has a cell, 0, with node 7, but nodes are 0 to 2", "0 1 2<", "0 1 7<")
vtu("'FILE' has 1 cells and 2 values of 'tag'", "</Cells>",
    '</Cells><CellData><DataArray type="Int32" Name="tag" format="ascii">1 2</DataArray></CellData>')
transport("cannot open 'none.vtu': No such file or directory; check the path", S + "mesh={file: none.vtu}")
transport("cannot open 'none.msh': No such file or directory; check the path", S + "mesh={file: none.msh}")

table.run()
