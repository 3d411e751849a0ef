#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/log.hpp"
#include "core/deck/describe.hpp"
#include "core/deck/expression.hpp"

namespace cambium::graph {

using Point = std::array<double, 2>;

/// A triangle mesh in the plane, all triangles counter-clockwise, each node in at least one.
struct Triangles {
  struct Side {
    std::array<std::int32_t, 2> node{};  ///< the inside is on the left of the direction from the first to the second
    std::int32_t tag = -1;               ///< in `tags`; -1: none
    std::int32_t more = -1;              ///< in `more_tags`: further boundary parts with this side; -1: none
  };
  std::vector<Point> point;
  std::vector<std::array<std::int32_t, 3>> corner;
  std::vector<Side> boundary;                        ///< every edge with only one triangle
  std::vector<std::string> tags;                     ///< names of parts of the boundary
  std::vector<std::vector<std::int32_t>> more_tags;  ///< of sides in several parts, all but the first
  std::vector<std::int32_t> number;                  ///< of each node in the file or by the generator
  /// Calls f(tag) for each boundary part that contains a side.
  template <class F>
  void for_tags(const Side& side, const F& f) const {
    if (side.tag >= 0) f(side.tag);
    if (side.more >= 0)
      for (const auto tag : more_tags[side.more]) f(tag);
  }
  std::int64_t nodes() const { return std::ssize(point); }
  std::int64_t triangles() const { return std::ssize(corner); }
  std::int64_t bytes() const {
    return 16 * std::ssize(point) + 12 * std::ssize(corner) + 16 * std::ssize(boundary) + 4 * std::ssize(number);
  }
};

/// Source of the triangles of a deck: exactly one of the keys.
struct MeshKeys {
  struct Rectangle {
    std::array<int, 2> cells{};
    std::array<double, 2> size{1.0, 1.0}, origin{0.0, 0.0};
    double shake = 0.0;
    static void describe(deck::Describe<Rectangle>& d);
  };
  struct Disc {
    int rings = 0;
    double radius = 1.0, hole = 0.0;
    std::array<double, 2> centre{0.0, 0.0};
    static void describe(deck::Describe<Disc>& d);
  };
  struct Refine {
    deck::Expression where;
    int times = 1;
    static void describe(deck::Describe<Refine>& d);
  };
  std::optional<Rectangle> rectangle;
  std::optional<Disc> disc;
  std::string file;
  std::vector<Refine> refine;
  static void describe(deck::Describe<MeshKeys>& d);
};

/// Records of a file or a generator, before they are checked.
struct RawMesh {
  struct Side {
    std::int64_t a = 0, b = 0;  ///< points
    std::int32_t tag = -1;
  };
  std::vector<std::array<double, 3>> point;
  std::vector<std::int64_t> point_number;  ///< in the file
  std::vector<std::array<std::int64_t, 3>> corner;
  std::vector<std::int64_t> triangle_number;  ///< in the file
  std::vector<Side> sides;                    ///< of the boundary, if the file names parts of it; once for each part
  std::vector<std::string> tags;
};

/// Creates the mesh, the same on every rank. `seed`: of displaced nodes. InputError, with the number of the triangle,
/// for an unusable mesh; oddities are logged.
Triangles make_mesh(const MeshKeys& keys, std::uint64_t seed, Log& log);

/// Repeatedly splits triangles whose centre satisfies the formula (not 0) into four similar ones, and others as needed
/// to avoid hanging nodes: a triangle with any split side is also split across its longest one (Rivara 1984), which
/// bounds the angles from below. New nodes are the midpoints of sides, also on a round rim (thus inside of it), and are
/// numbered after the others. InputError if the formula holds nowhere. `name`: of the mesh, for messages.
void refine(Triangles& mesh, const MeshKeys::Refine& keys, const std::string& name);

/// Renumbers the nodes to bring neighbours close together; `number` holds the original numbers.
void renumber_nodes(Triangles& mesh);

/// InputError for a triangle of zero area, a duplicate triangle, an edge of three triangles, overlapping or folded
/// triangles, points outside a plane z = constant. Logs clockwise triangles, which are turned, unused nodes, which are
/// removed, hanging nodes, and boundaries with coincident nodes. `name`: of the mesh, for messages. `made`: created by
/// a generator, so that no triangles overlap.
Triangles checked_mesh(RawMesh raw, const std::string& name, Log& log, bool made = false);

RawMesh rectangle_of(const MeshKeys::Rectangle& keys, std::uint64_t seed);
RawMesh disc_of(const MeshKeys::Disc& keys);
/// Reads Gmsh's MSH, ASCII, 2.2 and 4.1: triangles, and lines of physical groups as named parts of the boundary; a line
/// may belong to several.
RawMesh read_gmsh(const std::string& path);
/// Reads VTK's XML UnstructuredGrid, ASCII or inline base64 without compression: triangles and lines. The cell data
/// `gmsh:physical` or `tag` of lines number parts of the boundary; other integer arrays of 0 and 1 name parts.
RawMesh read_vtu(const std::string& path);

}  // namespace cambium::graph
