// Made meshes against their areas, Gmsh and VTU files as the formats' documents say them, what is refused.
#include <cmath>
#include <fstream>
#include <map>

#include "core/base/constants.hpp"
#include "plugins/graph/meshes/triangles.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::graph;

namespace {

Triangles meshed(const std::string& text) {
  Log log;
  return make_mesh(deck::read<MeshKeys>(deck::parse(text, "test")), 1, log);
}

double area_of(const Triangles& m) {
  double sum = 0.0;
  for (const auto& c : m.corner) {
    const Point &a = m.point[c[0]], &b = m.point[c[1]], &d = m.point[c[2]];
    const double area = 0.5 * ((b[0] - a[0]) * (d[1] - a[1]) - (d[0] - a[0]) * (b[1] - a[1]));
    REQUIRE(area > 0.0);
    sum += area;
  }
  return sum;
}

/// Length of every part of the boundary.
std::map<std::string, double> boundary_of(const Triangles& m) {
  std::map<std::string, double> out;
  for (const auto& s : m.boundary) {
    const Point &a = m.point[s.node[0]], &b = m.point[s.node[1]];
    out[s.tag < 0 ? "" : m.tags[s.tag]] += std::hypot(a[0] - b[0], a[1] - b[1]);
  }
  return out;
}

// A unit square of four triangles around its middle; node 9 belongs to none.
const char* new_gmsh = R"($MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
3
1 7 "inlet pipe"
1 8 "outlet"
2 9 "fluid"
$EndPhysicalNames
$Entities
4 4 1 0
1 0 0 0 0
2 1 0 0 0
3 1 1 0 0
4 0 1 0 0
1 0 0 0 1 0 0 0 2 1 -2
2 1 0 0 1 1 0 1 8 2 2 -3
3 0 1 0 1 1 0 0 2 3 -4
4 0 0 0 0 1 0 1 7 2 4 -1
1 0 0 0 1 1 0 1 9 4 1 2 3 4
$EndEntities
$Nodes
3 6 1 9
0 1 0 2
1
2
0 0 0
1 0 0
0 3 0 2
3
4
1 1 0
0 1 0
2 1 0 2
5
9
0.5 0.5 0
0.3 0.3 0
$EndNodes
$Elements
5 8 1 8
0 1 15 1
1 1
1 2 1 1
2 2 3
1 4 1 1
3 4 1
1 1 1 1
4 1 2
2 1 2 4
5 1 2 5
6 2 3 5
7 3 4 5
8 4 1 5
$EndElements
)";

const char* old_gmsh = R"($MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
1
1 7 "inlet pipe"
$EndPhysicalNames
$Nodes
5
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
50 0.5 0.5 0
$EndNodes
$Elements
6
1 1 2 7 4 4 1
2 1 2 12 2 2 3
5 2 2 9 1 1 2 50
6 2 2 9 1 2 3 50
7 2 2 9 1 3 4 50
8 2 2 9 1 4 1 50
$EndElements
)";

}  // namespace

TEST_CASE("a rectangle has its area and its sides") {
  for (const char* shake : {"0", "0.3"}) {
    const auto m =
        meshed(std::string("{rectangle: {cells: [7, 4], size: [2, 0.5], origin: [-1, 3], shake: ") + shake + "}}");
    CHECK(m.nodes() == 40);
    CHECK(m.triangles() == 56);
    CHECK(area_of(m) == Approx(1.0));
    const auto sides = boundary_of(m);
    CHECK(sides.size() == 4);
    CHECK(sides.at("left") == Approx(0.5));
    CHECK(sides.at("top") == Approx(2.0));
    CHECK(m.point[0] == Point{-1.0, 3.0});
  }
}

TEST_CASE("a disc is round, with and without a hole") {
  const auto whole = meshed("{disc: {rings: 24, radius: 2, centre: [1, 1]}}");
  CHECK(whole.nodes() == 1 + 3 * 24 * 25);
  CHECK(area_of(whole) == Approx(4.0 * constants::pi).epsilon(1e-3));
  CHECK(boundary_of(whole).at("rim") == Approx(4.0 * constants::pi).epsilon(1e-3));
  const auto holed = meshed("{disc: {rings: 9, hole: 0.25}}");
  CHECK(area_of(holed) == Approx(constants::pi * (1.0 - 0.0625)).epsilon(5e-3));
  CHECK(boundary_of(holed).at("hole") == Approx(0.5 * constants::pi).epsilon(5e-3));
  CHECK(boundary_of(holed).size() == 2);
}

namespace {

double smallest_angle(const Triangles& m) {
  double least = constants::pi;
  for (const auto& c : m.corner)
    for (int k = 0; k < 3; ++k) {
      const Point &a = m.point[c[k]], &b = m.point[c[(k + 1) % 3]], &d = m.point[c[(k + 2) % 3]];
      const double ux = b[0] - a[0], uy = b[1] - a[1], vx = d[0] - a[0], vy = d[1] - a[1];
      least = std::min(least, std::atan2(ux * vy - uy * vx, ux * vx + uy * vy));
    }
  return least;
}

/// Longest side of the triangles whose middle has a y in this range.
double longest_side(const Triangles& m, double low, double high) {
  double most = 0.0;
  for (const auto& c : m.corner) {
    const double y = (m.point[c[0]][1] + m.point[c[1]][1] + m.point[c[2]][1]) / 3.0;
    for (int k = 0; k < 3 && y >= low && y < high; ++k) {
      const Point &a = m.point[c[k]], &b = m.point[c[(k + 1) % 3]];
      most = std::max(most, std::hypot(b[0] - a[0], b[1] - a[1]));
    }
  }
  return most;
}

}  // namespace

TEST_CASE("a mesh is refined at a wall, and no node hangs") {
  for (const std::string made : {"rectangle: {cells: [10, 8], shake: 0.3}", "disc: {rings: 8, centre: [0, 1]}"}) {
    const auto coarse = meshed("{" + made + "}");
    for (const int times : {1, 2, 4}) {
      const auto fine = meshed(fmt::format("{{{}, refine: [{{where: y < 0.25, times: {}}}]}}", made, times));
      INFO(made << ", times " << times);
      CHECK(area_of(fine) == Approx(area_of(coarse)).epsilon(1e-13));
      // A node that hangs would add an inner edge to the boundary.
      const auto sides = boundary_of(fine), before = boundary_of(coarse);
      CHECK(sides.size() == before.size());
      for (const auto& [name, length] : before) CHECK(sides.at(name) == Approx(length).epsilon(1e-13));
      const auto edges = (3 * fine.triangles() + std::ssize(fine.boundary)) / 2;
      CHECK(fine.nodes() - edges + fine.triangles() == 1);  // Euler
      CHECK(smallest_angle(fine) >= 0.5 * smallest_angle(coarse) - 1e-12);
      CHECK(longest_side(fine, 0.0, 0.1) <= std::pow(0.5, times) * longest_side(coarse, -1.0, 2.0));
      CHECK(longest_side(fine, 0.6, 1.0) == longest_side(coarse, 0.6, 1.0));
    }
  }
}

TEST_CASE("a mesh that is refined everywhere has four times the triangles, and parts may follow each other") {
  const auto once = meshed("{rectangle: {cells: [4, 4]}, refine: [{where: 1}]}");
  CHECK(once.triangles() == 4 * 32);
  CHECK(once.nodes() == 81);
  const auto twice = meshed("{rectangle: {cells: [4, 4]}, refine: [{where: 1}, {where: x > 0.5}]}");
  CHECK(twice.triangles() > 128 + 3 * 64);
  CHECK(twice.triangles() < 4 * 128);
}

TEST_CASE("Gmsh files of both versions give the same mesh") {
  const Scratch scratch;
  for (const char* text : {new_gmsh, old_gmsh}) {
    std::ofstream(scratch.file("m.msh")) << text;
    const auto m = meshed("{file: " + scratch.file("m.msh") + "}");
    CHECK(m.nodes() == 5);
    CHECK(m.triangles() == 4);
    CHECK(area_of(m) == Approx(1.0));
    const auto sides = boundary_of(m);
    CHECK(sides.at("inlet pipe") == Approx(1.0));
    CHECK(sides.at(text == new_gmsh ? "outlet" : "12") == Approx(1.0));
    CHECK(sides.at("") == Approx(2.0));
    for (int i = 0; i < 5; ++i)
      if (m.number[i] == 4) CHECK(m.point[i] == Point{0.5, 0.5});  // the fifth node of the file
  }
}

TEST_CASE("nodes of Gmsh with coordinates on the geometry, and partitions of a mesh") {
  const Scratch scratch;
  const auto read = [&](const std::string& text) {
    std::ofstream(scratch.file("m.msh")) << text;
    return meshed("{file: " + scratch.file("m.msh") + "}");
  };
  const auto with = [](std::string text, const std::vector<std::pair<std::string, std::string>>& changes) {
    for (const auto& [from, to] : changes) text.replace(text.find(from), from.size(), to);
    return text;
  };
  const auto parametric = with(
      old_gmsh, {{"$Nodes", "$ParametricNodes"}, {"$EndNodes", "$EndParametricNodes"}, {"2 1 0 0", "2 1 0 0 1 2 0.5"}});
  CHECK(area_of(read(parametric)) == Approx(1.0));
  const auto parts = with(old_gmsh, {{"5 2 2 9 1", "5 2 4 9 1 1 1"}, {"6 2 2 9 1", "6 2 4 9 1 1 2"}});
  CHECK(area_of(read(parts)) == Approx(1.0));
  CHECK_THROWS_WITH(
      read(with(parts, {{"5 2 4 9 1 1 1", "5 2 4 9 1 1 2"}})),
      Catch::Contains(
          "m.msh' holds 1 of at least 2 partitions of a mesh; save it as one file (gmsh without -part_split)"));
}

TEST_CASE("triangles that overlap are refused, nodes that are there twice are said") {
  const Scratch scratch;
  std::vector<std::string> warnings;
  // Two squares of two triangles each, the second moved along x, with nodes of its own.
  const auto squares = [&](double along, double side) {
    std::ofstream out(scratch.file("m.msh"));
    out << "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n8\n";
    for (int k = 0; k < 8; ++k) {
      const double x = k % 4 == 1 || k % 4 == 2, y = k % 4 > 1, size = k < 4 ? 1.0 : side;
      out << fmt::format("{} {} {} 0\n", k + 1, size * x + (k < 4 ? 0.0 : along),
                         size * y + (k < 4 ? 0.0 : 0.5 - 0.5 * side));
    }
    out << "$EndNodes\n$Elements\n4\n1 2 2 9 1 1 2 3\n2 2 2 9 1 1 3 4\n3 2 2 9 2 5 6 7\n4 2 2 9 2 5 7 "
           "8\n$EndElements\n";
    out.close();
    Log log;
    const auto mesh =
        make_mesh(deck::read<MeshKeys>(deck::parse("{file: " + scratch.file("m.msh") + "}", "test")), 1, log);
    warnings.clear();
    for (const auto& each : log.warnings()) warnings.push_back(each.text);
    return area_of(mesh);
  };
  CHECK(squares(2.0, 1.0) == Approx(2.0));
  CHECK(warnings.empty());
  CHECK(squares(1.0, 1.0) == Approx(2.0));
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].ends_with(
      "m.msh': 2 nodes of the boundary coincide with others (the first are 2 and 5): nothing passes between their "
      "triangles, as through a wall; where there is none, unite the surfaces (in Gmsh Coherence or BooleanFragments) "
      "and "
      "mesh the domain again"));
  for (const auto& [along, side] : {std::pair{0.6, 1.0}, {0.3, 0.25}, {-0.4, 1.0}})
    CHECK_THROWS_WITH(
        squares(along, side),
        Catch::Contains("; triangles may not overlap, which would count their overlap twice: unite the surfaces (in "
                        "Gmsh BooleanFragments or BooleanDifference) and mesh the domain again"));
}

TEST_CASE("a curve that Gmsh names reversed has its physical group") {
  const Scratch scratch;
  std::string text = new_gmsh;
  const std::string curve = "4 0 0 0 0 1 0 1 7 2 4 -1";
  text.replace(text.find(curve), curve.size(), "4 0 0 0 0 1 0 1 -7 2 4 -1");
  std::ofstream(scratch.file("m.msh")) << text;
  CHECK(boundary_of(meshed("{file: " + scratch.file("m.msh") + "}")).at("inlet pipe") == Approx(1.0));
}

TEST_CASE("VTU files, written and in base64") {
  const Scratch scratch;
  const std::string cells = R"(<Cells>
<DataArray type="Int64" Name="connectivity" format="ascii">0 1 2 0 2 3 3 0</DataArray>
<DataArray type="Int64" Name="offsets" format="ascii">3 6
8</DataArray><DataArray type="UInt8" Name="types" format="ascii">5 5 3</DataArray></Cells>
<CellData><DataArray type="Int32" Name="tag" format="ascii">0 0 4</DataArray></CellData>)";
  const auto file =
      [&](const std::string& head, const std::string& points) {
        std::ofstream(scratch.file("m.vtu"))
            << "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"0.1\" " << head
            << "><UnstructuredGrid><Piece NumberOfPoints=\"4\" NumberOfCells=\"3\"><PointData></PointData><Points>"
            << points << "</Points>" << cells << "</Piece></UnstructuredGrid></VTKFile>\n";
        return meshed("{file: " + scratch.file("m.vtu") + "}");
      };
  const auto written = file("", R"(<DataArray type="Float64" NumberOfComponents="3" format="ascii">
0 0 0 2 0 0 2 1 0 0 1 0 </DataArray>)");
  CHECK(written.nodes() == 4);
  CHECK(area_of(written) == Approx(2.0));
  CHECK(boundary_of(written).at("4") == Approx(1.0));
  // 48 bytes of float32: base64.b64encode(struct.pack("<I12f", 48, 0,0,0, 2,0,0, 2,1,0, 0,1,0))
  const auto encoded = file(R"(byte_order="LittleEndian" header_type="UInt32")",
                            "<DataArray type=\"Float32\" NumberOfComponents=\"3\" format=\"binary\">\n"
                            "MAAAAAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAEAAAIA/AAAAAAAAAAAAAIA/AAAAAA==\n</DataArray>");
  CHECK(area_of(encoded) == Approx(2.0));
  // the same with a length of 8 bytes, encoded on its own
  const auto apart = file(R"(byte_order="LittleEndian" header_type="UInt64")",
                          "<DataArray type=\"Float32\" NumberOfComponents=\"3\" format=\"binary\">"
                          "MAAAAAAAAAA=AAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAQAAAgD8AAAAAAAAAAAAAgD8AAAAA</DataArray>");
  CHECK(area_of(apart) == Approx(2.0));
}

TEST_CASE("a mesh that is clockwise as a whole is turned round") {
  const Scratch scratch;
  std::string text = old_gmsh;
  for (const char* way : {"1 2 50", "2 3 50", "3 4 50", "4 1 50"}) {
    const std::string from(way), back = from.substr(2, 1) + " " + from.substr(0, 1) + " 50";
    text.replace(text.find("9 1 " + from) + 4, from.size(), back);
  }
  std::ofstream(scratch.file("m.msh")) << text;
  CHECK(area_of(meshed("{file: " + scratch.file("m.msh") + "}")) == Approx(1.0));
}

TEST_CASE("triangles of either orientation are one mesh, folded ones are refused") {
  const Scratch scratch;
  const auto read = [&](const std::string& text) {
    std::ofstream(scratch.file("m.msh")) << text;
    return meshed("{file: " + scratch.file("m.msh") + "}");
  };
  const auto plain = read(old_gmsh);
  std::string text = old_gmsh;
  for (const char* way : {"1 2 50", "3 4 50"}) {
    const std::string from(way), back = from.substr(2, 1) + " " + from.substr(0, 1) + " 50";
    text.replace(text.find("9 1 " + from) + 4, from.size(), back);
  }
  const auto mixed = read(text);
  CHECK(area_of(mixed) == Approx(1.0));
  CHECK(mixed.triangles() == plain.triangles());
  CHECK(boundary_of(mixed) == boundary_of(plain));
  for (const auto& c : mixed.corner) {
    const Point &a = mixed.point[c[0]], &b = mixed.point[c[1]], &d = mixed.point[c[2]];
    CHECK((b[0] - a[0]) * (d[1] - a[1]) - (d[0] - a[0]) * (b[1] - a[1]) > 0.0);
  }
  // The node in the middle is moved out of the square: two triangles lie on the same side of an edge.
  const auto at = text.find("0.5 0.5");
  REQUIRE(at != std::string::npos);
  CHECK_THROWS_WITH(read(text.replace(at, 7, "0.5 -0.5")), Catch::Contains("so the mesh is folded there"));
}
