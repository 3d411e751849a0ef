// VTK's XML files of unstructured grids (VTK file formats, "XML file formats"): ASCII and inline base64.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/text_lines.hpp"
#include "plugins/graph/meshes/triangles.hpp"

namespace cambium::graph {
namespace {

constexpr int vertex_type = 1, line_type = 3, triangle_type = 5;

/// An array of the file: the attributes of its tag, and its content.
struct Array {
  std::map<std::string, std::string> attribute;
  std::string content;
};

class VtuReader {
 public:
  explicit VtuReader(const std::string& path) : path_(path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw InputError(fmt::format("cannot open '{}': {}; check the path", path, std::strerror(errno)));
    text_.assign(std::istreambuf_iterator<char>(file), {});
    if (text_.find("<VTKFile") == std::string::npos || text_.find("UnstructuredGrid") == std::string::npos)
      throw InputError(fmt::format(
          "'{}' is no VTK file of an unstructured grid (.vtu); convert the mesh, for example with meshio", path));
    if (text_.find("</VTKFile>") == std::string::npos)
      throw InputError(fmt::format("'{}' ends before </VTKFile>; the file is cut short: save the mesh again", path));
    const auto head = attributes(text_.find("<VTKFile"));
    if (head.count("compressor"))
      fail(fmt::format("is compressed ({}); save it without compression (meshio: compression=None)",
                       head.at("compressor")));
    if (text_.find("<AppendedData") != std::string::npos)
      fail("has appended data; save it with inline data (ParaView: data mode ASCII, or binary)");
    const auto order = head.find("byte_order");
    if (order != head.end() && order->second != "LittleEndian") fail("is in big-endian order; save it as LittleEndian");
    if (const auto first = text_.find("<Piece"); text_.find("<Piece", first + 1) != std::string::npos)
      fail("has several pieces, as of several processes; save it as one piece");
    header_bytes_ = head.count("header_type") && head.at("header_type") == "UInt64" ? 8 : 4;
  }

  RawMesh read() const {
    RawMesh mesh;
    const auto points = section("Points");
    const auto place = numbers(array_in(points, "", "Points"));
    if (place.empty() || place.size() % 3) fail("has points without three coordinates each");
    for (std::size_t i = 0; i < place.size(); i += 3) {
      mesh.point_number.push_back(static_cast<std::int64_t>(i / 3));
      mesh.point.push_back({place[i], place[i + 1], place[i + 2]});
    }
    read_cells(mesh);
    return mesh;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw InputError(fmt::format("'{}' {}", path_, what)); }

  /// Attributes name="value" of the tag that begins at `at`.
  std::map<std::string, std::string> attributes(std::size_t at) const {
    std::map<std::string, std::string> out;
    const std::size_t end = std::min(text_.find('>', at), text_.size());
    for (std::size_t equal = text_.find('=', at); equal < end; equal = text_.find('=', equal + 1)) {
      std::size_t begin = equal;
      while (begin > at && std::isspace(static_cast<unsigned char>(text_[begin - 1])) == 0) --begin;
      const std::size_t open = equal + 1;
      if (open >= end || (text_[open] != '"' && text_[open] != '\'')) continue;
      const std::size_t close = text_.find(text_[open], open + 1);
      if (close == std::string::npos) break;
      out[text_.substr(begin, equal - begin)] = text_.substr(open + 1, close - open - 1);
      equal = close;
    }
    return out;
  }

  struct Range {
    std::size_t begin = 0, end = 0;
  };
  /// Range between <name ...> and </name>; empty if there is none.
  Range section(const std::string& name) const {
    for (std::size_t at = text_.find("<" + name); at != std::string::npos; at = text_.find("<" + name, at + 1)) {
      const char next = text_[at + name.size() + 1];
      if (next != '>' && next != ' ' && next != '\n' && next != '\t' && next != '\r') continue;
      const std::size_t end = text_.find("</" + name + ">", at);
      if (end != std::string::npos) return {at, end};
    }
    return {};
  }

  /// The array of that name in a section; for "", the only one.
  std::optional<Array> find_array(Range range, const std::string& name) const {
    for (std::size_t at = text_.find("<DataArray", range.begin); at < range.end;
         at = text_.find("<DataArray", at + 1)) {
      Array out{attributes(at), {}};
      if (!name.empty() && out.attribute["Name"] != name) continue;
      const std::size_t begin = text_.find('>', at), end = text_.find("</DataArray>", at);
      if (begin == std::string::npos || end == std::string::npos || end > range.end)
        fail("has an array without an end");
      out.content = text_.substr(begin + 1, end - begin - 1);
      return out;
    }
    return {};
  }
  Array array_in(Range range, const std::string& name, const std::string& shown) const {
    auto found = find_array(range, name);
    if (!found) fail(fmt::format("has no array of {}", shown));
    return *found;
  }

  std::string decoded(const std::string& content) const {
    const auto six = [](char c) -> int {
      if (c >= 'A' && c <= 'Z') return c - 'A';
      if (c >= 'a' && c <= 'z') return c - 'a' + 26;
      if (c >= '0' && c <= '9') return c - '0' + 52;
      return c == '+' ? 62 : c == '/' ? 63 : -1;
    };
    std::string out;
    std::uint32_t bits = 0;
    int held = 0;
    for (const char c : trim(content)) {
      if (c == '=') {  // the length may have been encoded separately: a new base64 block begins
        bits = 0;
        held = 0;
        continue;
      }
      const int value = six(c);
      if (value < 0) {
        if (std::isspace(static_cast<unsigned char>(c))) continue;
        fail(fmt::format("has the character '{}' in base64 data", c));
      }
      bits = bits << 6 | static_cast<std::uint32_t>(value);
      held += 6;
      if (held >= 8) {
        held -= 8;
        out.push_back(static_cast<char>(bits >> held & 255));
      }
    }
    if (out.size() < header_bytes_) fail("has base64 data without a length");
    std::uint64_t length = 0;
    std::memcpy(&length, out.data(), header_bytes_);
    if (out.size() - header_bytes_ < length)
      fail(
          fmt::format("has {} bytes of base64 data where {} were announced; the file is cut short: save the mesh again",
                      out.size() - header_bytes_, length));
    return out.substr(header_bytes_, length);
  }

  template <class T>
  static std::vector<double> unpacked(const std::string& bytes) {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return {values.begin(), values.end()};
  }

  std::vector<double> numbers(const Array& array) const {
    const auto word = [&](const char* key) {
      const auto found = array.attribute.find(key);
      return found == array.attribute.end() ? std::string() : found->second;
    };
    if (word("format") == "ascii") return written(array.content);
    if (word("format") != "binary")
      fail(fmt::format("has an array of format '{}'; save it as ascii or binary", word("format")));
    const std::string bytes = decoded(array.content), type = word("type");
    if (type == "Float64") return unpacked<double>(bytes);
    if (type == "Float32") return unpacked<float>(bytes);
    if (type == "Int64") return unpacked<std::int64_t>(bytes);
    if (type == "UInt64") return unpacked<std::uint64_t>(bytes);
    if (type == "Int32") return unpacked<std::int32_t>(bytes);
    if (type == "UInt32") return unpacked<std::uint32_t>(bytes);
    if (type == "Int16") return unpacked<std::int16_t>(bytes);
    if (type == "UInt16") return unpacked<std::uint16_t>(bytes);
    if (type == "Int8") return unpacked<std::int8_t>(bytes);
    if (type == "UInt8") return unpacked<std::uint8_t>(bytes);
    fail(fmt::format("has an array of type '{}', which is not read", type));
  }

  std::vector<double> written(const std::string& content) const {
    std::vector<double> out;
    std::string one_line = content;
    std::replace(one_line.begin(), one_line.end(), '\n', ' ');
    for (const auto word : io::split(one_line)) {
      const auto value = parse_number(word);
      if (!value) fail(fmt::format("has '{}' where a number was expected", word));
      out.push_back(*value);
    }
    return out;
  }

  void read_cells(RawMesh& mesh) const {
    const auto cells = section("Cells");
    const auto nodes = numbers(array_in(cells, "connectivity", "connectivity")),
               ends = numbers(array_in(cells, "offsets", "offsets")),
               types = numbers(array_in(cells, "types", "types"));
    const auto tags = boundary_tags(types.size());
    const auto sets = boundary_sets(types);
    if (ends.size() != types.size())
      fail(fmt::format("has {} offsets and {} types of cells; the file is damaged", ends.size(), types.size()));
    for (std::size_t c = 0; c < types.size(); ++c) {
      const auto first = static_cast<std::size_t>(c ? ends[c - 1] : 0.0);
      const int type = static_cast<int>(types[c]);
      if (type == vertex_type) continue;
      if (type != line_type && type != triangle_type)
        fail(fmt::format(
            "has a cell, {}, of VTK's type {}; only triangles (5) can be used, and lines (3) for the boundary", c,
            type));
      const std::size_t corners = type == line_type ? 2 : 3;
      if (ends[c] != static_cast<double>(first + corners) || first + corners > nodes.size())
        fail(fmt::format("has a cell, {}, with too few nodes; the file is damaged", c));
      const auto at = [&](std::size_t k) { return node(nodes[first + k], c, mesh); };
      if (type == triangle_type) {
        mesh.corner.push_back({at(0), at(1), at(2)});
        mesh.triangle_number.push_back(static_cast<std::int64_t>(c));
      } else {
        if (!tags.empty()) mesh.sides.push_back({at(0), at(1), tag_of(number_text(tags[c]), mesh)});
        for (const auto& [name, values] : sets)
          if (values[c] == 1.0) mesh.sides.push_back({at(0), at(1), tag_of(name, mesh)});
      }
    }
  }

  std::int64_t node(double value, std::size_t cell, const RawMesh& mesh) const {
    if (!(value >= 0.0 && value < static_cast<double>(mesh.point.size())))
      fail(fmt::format("has a cell, {}, with node {}, but nodes are 0 to {}", cell, value, mesh.point.size() - 1));
    return static_cast<std::int64_t>(value);
  }

  std::vector<double> boundary_tags(std::size_t cells) const {
    const auto data = section("CellData");
    for (const char* name : {"gmsh:physical", "tag"})
      if (const auto found = find_array(data, name)) {
        auto tags = numbers(*found);
        if (tags.size() != cells) fail(fmt::format("has {} cells and {} values of '{}'", cells, tags.size(), name));
        return tags;
      }
    return {};
  }

  using Sets = std::map<std::string, std::vector<double>>;

  /// Sets of cells of meshio, as arrays of 0 and 1 by the name of the boundary part: it writes one array for each (4),
  /// or a single one for all (5).
  Sets boundary_sets(const std::vector<double>& types) const {
    Sets out;
    const auto data = section("CellData");
    for (std::size_t at = text_.find("<DataArray", data.begin); at < data.end; at = text_.find("<DataArray", at + 1)) {
      auto attribute = attributes(at);
      const std::string name = attribute["Name"], type = attribute["type"];
      if (name.empty() || name == "gmsh:physical" || name == "gmsh:geometrical" || name == "tag" ||
          type.find("Int") == std::string::npos)
        continue;
      auto values = numbers(array_in(data, name, name));
      if (values.empty() || values.size() != types.size()) continue;  // several values for each cell
      if (std::all_of(values.begin(), values.end(), [](double v) { return v == 0.0 || v == 1.0; }))
        add_set(name, std::move(values), types, out);
      else
        add_numbered(name, values, types, out);
    }
    return out;
  }

  /// Leaves out a set without sides, as of triangles.
  static void add_set(const std::string& name, std::vector<double> values, const std::vector<double>& types,
                      Sets& out) {
    for (std::size_t c = 0; c < types.size(); ++c)
      if (values[c] == 1.0 && static_cast<int>(types[c]) == line_type) {
        out.emplace(name, std::move(values));
        return;
      }
  }

  /// An array "left-right" with 0 in the first set, 1 in the second, and -1 in none. Other numbers are no sets.
  static void add_numbered(const std::string& name, const std::vector<double>& values, const std::vector<double>& types,
                           Sets& out) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    std::vector<std::string> names{name};  // of a single one, which may have a dash itself
    if (*most > 0.0) {
      names.clear();
      std::size_t begin = 0;
      for (std::size_t dash = name.find('-'); dash != std::string::npos; dash = name.find('-', begin)) {
        names.push_back(name.substr(begin, dash - begin));
        begin = dash + 1;
      }
      names.push_back(name.substr(begin));
    }
    const bool numbered = *least == -1.0 || (*least >= 0.0 && *most > 1.0);
    if (!numbered || *most != static_cast<double>(names.size()) - 1.0) return;
    for (std::size_t k = 0; k < names.size(); ++k) {
      std::vector<double> in(values.size());
      for (std::size_t c = 0; c < values.size(); ++c) in[c] = values[c] == static_cast<double>(k) ? 1.0 : 0.0;
      if (!names[k].empty()) add_set(names[k], std::move(in), types, out);
    }
  }

  static std::int32_t tag_of(const std::string& name, RawMesh& mesh) {
    const auto at = std::find(mesh.tags.begin(), mesh.tags.end(), name);
    if (at != mesh.tags.end()) return static_cast<std::int32_t>(at - mesh.tags.begin());
    mesh.tags.push_back(name);
    return static_cast<std::int32_t>(mesh.tags.size()) - 1;
  }

  std::string path_, text_;
  std::size_t header_bytes_ = 4;
};

}  // namespace

RawMesh read_vtu(const std::string& path) { return VtuReader(path).read(); }

}  // namespace cambium::graph
