// Five hundred ways to write one mesh of Gmsh, and curves in several physical groups.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <random>

#include "plugins/graph/meshes/triangles.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/graph/spellings/mesh_case.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::graph;
using namespace cambium::graph::test;

namespace {

/// A rectangle of nx x ny squares, each cut in two, whose curves are 1 south, 2 east, 3 north, 4 west.
struct Strip {
  int nx = 4, ny = 2;
  std::vector<std::array<double, 2>> points;
  std::vector<std::array<int, 3>> triangles;
  std::map<int, std::vector<std::array<int, 2>>> curves;
  std::map<int, std::vector<int>> groups{{1, {}}, {2, {2}}, {3, {}}, {4, {1, 2}}};  // 1 west, 2 ends

  Strip() {
    for (int j = 0; j <= ny; ++j)
      for (int i = 0; i <= nx; ++i) points.push_back({2.0 * i / nx, 0.5 * j / ny});
    const auto at = [&](int i, int j) { return j * (nx + 1) + i; };
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < nx; ++i) {
        triangles.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1)});
        triangles.push_back({at(i, j), at(i + 1, j + 1), at(i, j + 1)});
      }
    for (int i = 0; i < nx; ++i) {
      curves[1].push_back({at(i, 0), at(i + 1, 0)});
      curves[3].push_back({at(i + 1, ny), at(i, ny)});
    }
    for (int j = 0; j < ny; ++j) {
      curves[2].push_back({at(nx, j), at(nx, j + 1)});
      curves[4].push_back({at(0, j + 1), at(0, j)});
    }
  }
};

class MeshSpeller {
 public:
  explicit MeshSpeller(unsigned seed) : draw_(seed) {}

  std::string spelled(const Strip& strip, bool modern) {
    end_ = pick({"\n", "\r\n", " \n"});
    int number = 0;
    for (std::size_t k = 0; k < strip.points.size(); ++k) numbers_.push_back(number += yes(5) ? 3 : 1);
    unused_ = yes(3) ? number + 7 : 0;
    std::string out = yes(4) ? section("Comments", {"made by hand", "", "1 2 3"}) : "";
    out += section("MeshFormat", {modern ? "4.1 0 8" : "2.2 0 8"});
    out += section("PhysicalNames", {"3", "1 1 \"west\"", "1 2 \"ends\"", "2 3 \"all of it\""});
    out += modern ? entities(strip) + modern_nodes(strip) + modern_elements(strip) : nodes(strip) + elements(strip);
    if (yes(3)) out += section("NodeData", {"1", "\"u\"", "0", "0"});
    if (yes(4)) out += section("Periodic", {"0"});
    return out;
  }

 private:
  using Lines = std::vector<std::string>;
  bool yes(int of = 2) { return std::uniform_int_distribution<int>(1, of)(draw_) == 1; }
  std::string pick(const Lines& ways) {
    return ways[std::uniform_int_distribution<std::size_t>(0, ways.size() - 1)(draw_)];
  }
  std::string section(const std::string& name, const Lines& lines) {
    std::string out = "$" + name + end_;
    for (const auto& line : lines) out += line + end_ + (yes(40) && name != "Comments" ? end_ : "");
    return out + "$End" + name + end_ + (yes(6) ? end_ : "");
  }
  std::string real(double x) {
    return pick({fmt::format("{}", x), fmt::format("{:.16e}", x), fmt::format("{:.17g}", x)});
  }
  std::string place(const std::array<double, 2>& p) {
    return fmt::format("{} {} {}", real(p[0]), real(p[1]), pick({"0", "0.0", "-0"}));
  }
  std::vector<std::size_t> order(std::size_t size) {
    std::vector<std::size_t> out(size);
    for (std::size_t k = 0; k < size; ++k) out[k] = k;
    if (yes()) std::shuffle(out.begin(), out.end(), draw_);
    return out;
  }
  template <std::size_t N>
  std::string corners(std::array<int, N> c) {
    if (N == 3) std::rotate(c.begin(), c.begin() + static_cast<int>(draw_() % 3), c.end());
    if (N == 2 && yes()) std::swap(c[0], c[1]);
    std::string out;
    for (const int k : c) out += fmt::format(" {}", numbers_[k]);
    return out;
  }

  std::string nodes(const Strip& strip) {
    Lines lines{fmt::format("{}", strip.points.size() + (unused_ ? 1 : 0))};
    for (const auto k : order(strip.points.size()))
      lines.push_back(fmt::format("{} {}", numbers_[k], place(strip.points[k])));
    if (unused_) lines.push_back(fmt::format("{} 0.3 7 0", unused_));
    return section("Nodes", lines);
  }

  /// An element once for each of its groups.
  std::string elements(const Strip& strip) {
    Lines lines;
    int number = 0;
    const bool parts = yes(4);
    const auto add = [&](int type, int group, int entity, const std::string& corners) {
      number += yes(9) ? 5 : 1;
      lines.push_back(
          fmt::format("{} {} {} {} {}{}{}", number, type, parts ? 4 : 2, group, entity, parts ? " 1 1" : "", corners));
    };
    if (yes()) add(15, 0, 1, fmt::format(" {}", numbers_[0]));
    for (const auto& [curve, sides] : strip.curves) {
      auto groups = strip.groups.at(curve);
      if (yes()) std::reverse(groups.begin(), groups.end());
      for (const int group : groups)
        for (const auto k : order(sides.size())) add(1, yes(3) ? -group : group, curve, corners(sides[k]));
      if (groups.empty() && yes())
        for (const auto& side : sides) add(1, 0, curve, corners(side));
    }
    const bool twice = yes(4);  // a surface in two groups
    for (const int group : twice ? std::vector<int>{3, 4} : std::vector<int>{3})
      for (const auto k : order(strip.triangles.size())) add(2, group, 1, corners(strip.triangles[k]));
    lines.insert(lines.begin(), fmt::format("{}", lines.size()));
    return section("Elements", lines);
  }

  std::string entities(const Strip& strip) {
    Lines lines{"4 4 1 0", "1 0 0 0 0", "2 2 0 0 1 9", "3 2 .5 0 0", "4 0 .5 0 0"};
    for (const auto& [curve, given] : strip.groups) {
      auto groups = given;
      if (yes()) std::reverse(groups.begin(), groups.end());
      std::string text = fmt::format("{} 0 0 0 2 0.5 0 {}", curve, groups.size());
      for (const int group : groups) text += fmt::format(" {}", yes(3) ? -group : group);
      lines.push_back(text + fmt::format(" 2 {} -{}", curve, curve % 4 + 1));
    }
    lines.push_back(yes() ? "1 0 0 0 2 0.5 0 1 3 4 1 2 3 4" : "1 0 0 0 2 0.5 0 2 3 4 4 1 2 3 4");
    return section("Entities", lines);
  }

  std::string modern_nodes(const Strip& strip) {
    Lines lines;
    const auto all = order(strip.points.size());
    const std::size_t cut = draw_() % all.size();
    const bool parametric = yes(4);
    int blocks = 0;
    for (const auto& [from, to] : {std::pair{std::size_t{0}, cut}, {cut, all.size()}}) {
      lines.push_back(fmt::format("2 1 {} {}", parametric ? 1 : 0, to - from)), ++blocks;
      for (auto k = from; k < to; ++k) lines.push_back(fmt::format("{}", numbers_[all[k]]));
      for (auto k = from; k < to; ++k) lines.push_back(place(strip.points[all[k]]) + (parametric ? " 0.1 0.2" : ""));
    }
    if (unused_) lines.insert(lines.end(), {"0 1 0 1", fmt::format("{}", unused_), "0.3 7 0"}), ++blocks;
    lines.insert(lines.begin(),
                 fmt::format("{} {} 1 {}", blocks, strip.points.size() + (unused_ ? 1 : 0), numbers_.back() + 7));
    return section("Nodes", lines);
  }

  std::string modern_elements(const Strip& strip) {
    Lines lines;
    int number = 0, blocks = 0;
    const auto add = [&](const std::string& corners) {
      lines.push_back(fmt::format("{}{}", number += yes(9) ? 5 : 1, corners));
    };
    if (yes()) lines.push_back("0 1 15 1"), add(fmt::format(" {}", numbers_[0])), ++blocks;
    for (const auto& [curve, sides] : strip.curves) {
      if (strip.groups.at(curve).empty() && yes()) continue;
      lines.push_back(fmt::format("1 {} 1 {}", curve, sides.size())), ++blocks;
      for (const auto k : order(sides.size())) add(corners(sides[k]));
    }
    lines.push_back(fmt::format("2 1 2 {}", strip.triangles.size())), ++blocks;
    for (const auto k : order(strip.triangles.size())) add(corners(strip.triangles[k]));
    lines.insert(lines.begin(), fmt::format("{} {} 1 {}", blocks, number, number));
    return section("Elements", lines);
  }

  std::mt19937 draw_;
  std::string end_;
  std::vector<int> numbers_;
  int unused_ = 0;
};

}  // namespace

TEST_CASE("five hundred ways to write a mesh of Gmsh are one mesh") {
  const Scratch scratch("meshes");
  const Strip strip;
  const MeshContent expected{15, 16, 1.0, {{"", 4.0}, {"ends", 1.0}, {"west", 0.5}}};
  for (unsigned seed = 0; seed < 500; ++seed) {
    const auto text = MeshSpeller(seed).spelled(strip, seed % 2 == 0);
    const auto path = scratch.file("m.msh");
    std::ofstream(path, std::ios::binary) << text;
    INFO("seed " << seed << "\n" << text);
    REQUIRE(mesh_content(path).near(expected));
  }
}

TEST_CASE("a side belongs to every set of cells of a vtu file that holds it") {
  const Scratch scratch("meshes");
  std::ofstream(scratch.file("m.vtu")) << R"(<VTKFile type="UnstructuredGrid" version="0.1"><UnstructuredGrid>
<Piece NumberOfPoints="5" NumberOfCells="4"><Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">
0 0 0 2 0 0 2 1 0 0 1 0 7 7 0</DataArray></Points><Cells>
<DataArray type="Int64" Name="connectivity" format="ascii">0 1 2 0 2 3 3 0 1 2</DataArray>
<DataArray type="Int64" Name="offsets" format="ascii">3 6 8 10</DataArray>
<DataArray type="UInt8" Name="types" format="ascii">5 5 3 3</DataArray></Cells><CellData>
<DataArray type="Int32" Name="gmsh:geometrical" format="ascii">1 1 4 2</DataArray>
<DataArray type="Int32" Name="gmsh:physical" format="ascii">9 9 4 5</DataArray>
<DataArray type="Int32" Name="west" format="ascii">0 0 1 0</DataArray>
<DataArray type="Int64" Name="ends" format="ascii">0 0 1 1</DataArray>
<DataArray type="Float64" Name="quality" format="ascii">1 1 1 1</DataArray>
</CellData></Piece></UnstructuredGrid></VTKFile>)";
  const MeshContent expected{4, 2, 2.0, {{"", 4.0}, {"4", 1.0}, {"5", 1.0}, {"west", 1.0}, {"ends", 2.0}}};
  CHECK(mesh_content(scratch.file("m.vtu")).near(expected));
}

TEST_CASE("sets of cells as meshio 5 writes them, and other arrays of cells") {
  const Scratch scratch("meshes");
  const auto content = [&](const std::string& arrays) {
    std::ofstream(scratch.file("m.vtu")) << R"(<VTKFile type="UnstructuredGrid" version="0.1"><UnstructuredGrid>
<Piece NumberOfPoints="4" NumberOfCells="5"><Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">
0 0 0 2 0 0 2 1 0 0 1 0</DataArray></Points><Cells>
<DataArray type="Int64" Name="connectivity" format="ascii">0 1 2 0 2 3 3 0 1 2 0 1</DataArray>
<DataArray type="Int64" Name="offsets" format="ascii">3 6 8 10 12</DataArray>
<DataArray type="UInt8" Name="types" format="ascii">5 5 3 3 3</DataArray></Cells><CellData>
)" << arrays << "</CellData></Piece></UnstructuredGrid></VTKFile>";
    return mesh_content(scratch.file("m.vtu"));
  };
  const auto ascii = [](const std::string& name, const std::string& values) {
    return "<DataArray type=\"Int64\" Name=\"" + name + "\" format=\"ascii\">" + values + "</DataArray>\n";
  };
  const MeshContent plain{4, 2, 2.0, {{"", 6.0}}}, west{4, 2, 2.0, {{"", 5.0}, {"no-slip", 1.0}}},
      both{4, 2, 2.0, {{"", 4.0}, {"left", 1.0}, {"right", 1.0}}},
      all{4, 2, 2.0, {{"", 2.0}, {"left", 1.0}, {"right", 1.0}, {"south", 2.0}}};
  CHECK(content(ascii("no-slip", "-1 -1 0 -1 -1")).near(west));
  CHECK(content(ascii("no-slip", "0 0 1 0 0")).near(west));
  CHECK(content(ascii("left-right", "-1 -1 0 1 -1")).near(both));
  CHECK(content(ascii("left-right-inner-south", "2 2 0 1 3")).near(all));
  // Numbers that are no sets, and zeros everywhere.
  CHECK(content(ascii("id", "4 5 1 2 3") + ascii("left-right", "0 1 2 3 4") + ascii("zero", "0 0 0 0 0")).near(plain));
  // Five values of 16 bits, -2, 7, 300, 0 and 1, after their length, 10.
  for (const char* type : {"Int16", "UInt16"})
    CHECK(content(std::string("<DataArray type=\"") + type +
                  "\" Name=\"ids\" format=\"binary\">CgAAAP7/BwAsAQAAAQA=</DataArray>" +
                  ascii("left-right", "-1 -1 0 1 -1"))
              .near(both));
}
