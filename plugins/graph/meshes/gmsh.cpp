// Gmsh's MSH files in ASCII, versions 2.2 and 4.1 (Gmsh reference manual, "Gmsh file formats").
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>
#include <span>
#include <unordered_map>

#include "core/base/error.hpp"
#include "core/io/text_lines.hpp"
#include "plugins/graph/meshes/triangles.hpp"

namespace cambium::graph {
namespace {

constexpr int line_type = 1, triangle_type = 2, point_type = 15;

class GmshReader {
 public:
  explicit GmshReader(const std::string& path) : lines_(path) {}

  RawMesh read() {
    read_format();
    while (lines_.next()) {
      const std::string section = std::string(first_word());
      if (section.empty()) continue;
      if (section == "$PhysicalNames")
        read_names();
      else if (section == "$Entities" && modern_)
        read_entities();
      else if (section == "$PartitionedEntities")
        lines_.fail(
            "the mesh is divided into partitions, whose curves carry no names; save it unpartitioned (gmsh -part 0)");
      else if (section == "$Nodes" && modern_)
        read_node_blocks();
      else if (section == "$Nodes" || section == "$ParametricNodes")
        read_nodes(section);
      else if (section == "$Elements")
        modern_ ? read_element_blocks() : read_elements();
      else if (section.starts_with('$') && !section.starts_with("$End"))
        skip(section);
    }
    if (mesh_.point.empty() || !elements_)
      throw InputError(fmt::format("'{}' ends before its {}; the file is cut short: save the mesh again", lines_.path(),
                                   mesh_.point.empty() ? "$Nodes" : "$Elements"));
    return std::move(mesh_);
  }

 private:
  std::string_view first_word() {
    const auto words = io::split(lines_.line());
    return words.empty() ? std::string_view() : words.front();
  }
  /// Words of the next line, which must have at least `count`.
  std::vector<std::string_view> need(std::size_t count, const char* what) {
    std::vector<std::string_view> words;
    do {
      if (!lines_.next())
        throw InputError(fmt::format("'{}' ends in the middle of its {}; the file is cut short: save the mesh again",
                                     lines_.path(), what));
      words = io::split(lines_.line());
    } while (words.empty());
    if (words.size() < count)
      lines_.fail(fmt::format("expected {} values in a line of the {}, found {}", count, what, words.size()));
    return words;
  }
  std::int64_t whole(std::string_view word, const char* what) const { return lines_.integer(word, what); }

  void read_format() {
    bool more = lines_.next();
    for (; more && (first_word().empty() || first_word() == "$Comments"); more = lines_.next())
      if (!first_word().empty()) skip("$Comments");
    if (!more || first_word() != "$MeshFormat")
      throw InputError(fmt::format(
          "'{}' does not begin with $MeshFormat, so it is no Gmsh mesh; save it from Gmsh as .msh", lines_.path()));
    const auto words = need(3, "$MeshFormat");
    const std::string version(words[0]);
    if (version != "2.2" && version != "4.1")
      lines_.fail(fmt::format("MSH version {} is not read; save version 4.1 or 2.2 (gmsh -format msh41)", version));
    if (words[1] != "0") lines_.fail("a binary MSH file is not read; save it as ASCII (gmsh -save ... without -bin)");
    modern_ = version == "4.1";
    skip("$MeshFormat");
  }

  void skip(const std::string& section) {
    const std::string end = "$End" + section.substr(1);
    while (lines_.next())
      if (first_word() == end) return;
    throw InputError(fmt::format("'{}' ends in the middle of its {}; the file is cut short: save the mesh again",
                                 lines_.path(), section));
  }

  /// Checks the end of a section with a line count: further lines would be missing from the mesh.
  void end_of(const std::string& section) {
    const auto words = need(1, section.c_str());
    if (words.front() != "$End" + section.substr(1))
      lines_.fail(fmt::format(
          "the {} have more lines than their count in the file; the file is damaged: save the mesh again", section));
  }

  void read_names() {
    const auto count = whole(need(1, "$PhysicalNames")[0], "the number of physical names");
    for (std::int64_t k = 0; k < count; ++k) {
      const auto words = need(3, "$PhysicalNames");
      const std::string& line = lines_.line();
      const auto open = line.find('"'), close = line.rfind('"');
      if (open == std::string::npos || close <= open) lines_.fail("expected a name in quotation marks");
      if (words[0] == "1") names_[whole(words[1], "a physical group")] = line.substr(open + 1, close - open - 1);
    }
    end_of("$PhysicalNames");
  }

  /// Physical groups of each curve; a negative number is a group that contains the reversed curve.
  void read_entities() {
    const auto head = need(4, "$Entities");
    const auto points = whole(head[0], "the number of points"), curves = whole(head[1], "the number of curves");
    for (std::int64_t k = 0; k < points; ++k) need(1, "$Entities");
    for (std::int64_t k = 0; k < curves; ++k) {
      const auto words = need(8, "$Entities");
      const auto groups = whole(words[7], "the number of physical groups");
      if (groups < 0 || std::ssize(words) < 8 + groups)
        lines_.fail(fmt::format("curve {} states {} physical groups, but lists {}; is the file cut short?", words[0],
                                groups, words.size() - 8));
      auto& of_curve = groups_of_curve_[whole(words[0], "a curve")];
      for (std::int64_t g = 0; g < groups; ++g) of_curve.push_back(std::abs(whole(words[8 + g], "a physical group")));
    }
    skip("$Entities");
  }

  void add_point(std::int64_t number, const std::vector<std::string_view>& words, std::size_t first) {
    at_[number] = std::ssize(mesh_.point);
    mesh_.point_number.push_back(number);
    mesh_.point.push_back(
        {lines_.real(words[first], "x"), lines_.real(words[first + 1], "y"), lines_.real(words[first + 2], "z")});
  }

  /// $ParametricNodes has parametric coordinates after x, y and z.
  void read_nodes(const std::string& section) {
    const auto count = whole(need(1, section.c_str())[0], "the number of nodes");
    for (std::int64_t k = 0; k < count; ++k) {
      const auto words = need(4, section.c_str());
      add_point(whole(words[0], "a node"), words, 1);
    }
    end_of(section);
  }

  void read_node_blocks() {
    const auto blocks = whole(need(4, "$Nodes")[0], "the number of blocks");
    for (std::int64_t b = 0; b < blocks; ++b) {
      const auto count = whole(need(4, "$Nodes")[3], "the number of nodes of a block");
      std::vector<std::int64_t> numbers;
      for (std::int64_t k = 0; k < count; ++k) numbers.push_back(whole(need(1, "$Nodes")[0], "a node"));
      for (const auto number : numbers) add_point(number, need(3, "$Nodes"), 0);
    }
    end_of("$Nodes");
  }

  std::int64_t point_of(std::string_view word) {
    const auto number = whole(word, "a node");
    const auto found = at_.find(number);
    if (found == at_.end())
      lines_.fail(fmt::format("node {} is not among the {} nodes of this file", number, mesh_.point.size()));
    return found->second;
  }

  std::int32_t tag_of(std::int64_t group) {
    const auto found = names_.find(group);
    const std::string name = found == names_.end() ? std::to_string(group) : found->second;
    const auto at = std::find(mesh_.tags.begin(), mesh_.tags.end(), name);
    if (at != mesh_.tags.end()) return static_cast<std::int32_t>(at - mesh_.tags.begin());
    mesh_.tags.push_back(name);
    return static_cast<std::int32_t>(mesh_.tags.size()) - 1;
  }

  /// `first`: index of the first word that is a node. `groups`: of a line; 0 is none.
  void add_element(std::int64_t number, int type, std::span<const std::int64_t> groups,
                   const std::vector<std::string_view>& words, std::size_t first) {
    if (type == point_type) return;
    if (type != line_type && type != triangle_type)
      lines_.fail(
          fmt::format("element {} has Gmsh's type {}; only triangles of three nodes (2) can be used, and lines of "
                      "two (1) for the boundary: mesh with first order and without recombination",
                      number, type));
    if (words.size() < first + static_cast<std::size_t>(type) + 1)
      lines_.fail(fmt::format("element {} has too few nodes", number));
    if (type == triangle_type) {
      mesh_.corner.push_back({point_of(words[first]), point_of(words[first + 1]), point_of(words[first + 2])});
      mesh_.triangle_number.push_back(number);
    } else {
      const auto a = point_of(words[first]), b = point_of(words[first + 1]);
      for (const auto group : groups)
        if (group > 0) mesh_.sides.push_back({a, b, tag_of(group)});
    }
  }

  /// True if version 2.2 has already written the triangle for another physical group of its surface.
  bool written_before(int type, std::int64_t group, const std::vector<std::string_view>& words, std::size_t first) {
    if (type != triangle_type || first < 5 || words.size() < first + 3) return false;
    std::array<std::int64_t, 4> key{whole(words[4], "a surface"), point_of(words[first]), point_of(words[first + 1]),
                                    point_of(words[first + 2])};
    std::sort(key.begin() + 1, key.end());
    const auto [at, fresh] = group_of_triangle_.emplace(key, group);
    return !fresh && at->second != group;
  }

  /// Partitions are numbered from 1: if one is missing, the file is one of several.
  void require_all_parts() const {
    if (parts_.empty() || *parts_.rbegin() == std::ssize(parts_)) return;
    throw InputError(
        fmt::format("'{}' holds {} of at least {} partitions of a mesh; save it as one file (gmsh without -part_split)",
                    lines_.path(), parts_.size(), *parts_.rbegin()));
  }

  void read_elements() {
    const auto count = whole(need(1, "$Elements")[0], "the number of elements");
    for (std::int64_t k = 0; k < count; ++k) {
      const auto words = need(3, "$Elements");
      const auto tags =
          static_cast<std::size_t>(std::clamp<std::int64_t>(whole(words[2], "the number of tags"), 0, 1000));
      const std::int64_t group = tags > 0 && words.size() > 3 ? std::abs(whole(words[3], "a physical group")) : 0;
      const auto type = static_cast<int>(whole(words[1], "a type"));
      if (type == triangle_type && tags > 3 && words.size() > 6) parts_.insert(whole(words[6], "a partition"));
      if (written_before(type, group, words, 3 + tags)) continue;
      add_element(whole(words[0], "an element"), type, std::span(&group, 1), words, 3 + tags);
    }
    end_of("$Elements");
    require_all_parts();
    elements_ = true;
  }

  void read_element_blocks() {
    const auto blocks = whole(need(4, "$Elements")[0], "the number of blocks");
    for (std::int64_t b = 0; b < blocks; ++b) {
      const auto head = need(4, "$Elements");
      const auto curve = groups_of_curve_.find(whole(head[1], "an entity"));
      const auto type = static_cast<int>(whole(head[2], "a type"));
      const auto count = whole(head[3], "the number of elements of a block");
      std::span<const std::int64_t> groups;
      if (head[0] == "1" && curve != groups_of_curve_.end()) groups = curve->second;
      for (std::int64_t k = 0; k < count; ++k) {
        const auto words = need(2, "$Elements");
        add_element(whole(words[0], "an element"), type, groups, words, 1);
      }
    }
    end_of("$Elements");
    elements_ = true;
  }

  io::TextLines lines_;
  RawMesh mesh_;
  bool modern_ = true, elements_ = false;
  std::map<std::int64_t, std::string> names_;
  std::map<std::int64_t, std::vector<std::int64_t>> groups_of_curve_;
  std::map<std::array<std::int64_t, 4>, std::int64_t> group_of_triangle_;
  std::set<std::int64_t> parts_;  ///< partitions that triangles belong to
  std::unordered_map<std::int64_t, std::int64_t> at_;
};

}  // namespace

RawMesh read_gmsh(const std::string& path) { return GmshReader(path).read(); }

}  // namespace cambium::graph
