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

/// A mesh of triangles in the plane, all counter-clockwise, each node in at least one.
struct Triangles {
  struct Side {
    std::array<std::int32_t, 2> node{};  ///< the inside lies to the left of the way from the first to the second
    std::int32_t tag = -1;               ///< in `tags`; -1: none
    std::int32_t more = -1;              ///< in `more_tags`: further parts that the side belongs to; -1: none
  };
  std::vector<Point> point;
  std::vector<std::array<std::int32_t, 3>> corner;
  std::vector<Side> boundary;                        ///< every edge of one triangle only
  std::vector<std::string> tags;                     ///< names of parts of the boundary
  std::vector<std::vector<std::int32_t>> more_tags;  ///< of sides in several parts, all but the first
  std::vector<std::int32_t> number;                  ///< of each node in the file or by the rule that made it
  /// Calls f(tag) for every part that a side belongs to.
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

/// Where the triangles of a deck come from: exactly one of the keys.
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

/// Records of a file or of a synthetic rule, before they are checked.
struct RawMesh {
  struct Side {
    std::int64_t a = 0, b = 0;  ///< points
    std::int32_t tag = -1;
  };
  std::vector<std::array<double, 3>> point;
  std::vector<std::int64_t> point_number;  ///< in the file
  std::vector<std::array<std::int64_t, 3>> corner;
  std::vector<std::int64_t> triangle_number;  ///< in the file
  std::vector<Side> sides;                    ///< of the boundary, where the file names parts of it; once for each part
  std::vector<std::string> tags;
};

/// The mesh, the same on every rank. `seed`: of displaced nodes. InputError for what cannot be used, with the number of
/// the triangle; what is odd is said to the log.
Triangles make_mesh(const MeshKeys& keys, std::uint64_t seed, Log& log);

/// Cuts triangles whose middle lies where the formula is not 0 into four of their shape, again and again, and as many
/// others as it takes that no node hangs on an edge: a triangle of which any side is cut is cut across its longest one,
/// too (Rivara 1984), so that angles do not get ever smaller. New nodes lie in the middle of sides,
/// on a round rim inside of it, and are numbered behind the others. InputError where the formula holds nowhere.
/// `name`: of the mesh, for messages.
void refine(Triangles& mesh, const MeshKeys::Refine& keys, const std::string& name);

/// Numbers the nodes so that neighbours are near each other; `number` says which each was.
void renumber_nodes(Triangles& mesh);

/// InputError for a triangle of no area, one that is turned round while others are not, one that is there twice, an
/// edge of three triangles, triangles that overlap, points outside a plane z = constant. Says nodes that no triangle
/// uses, which go, nodes that hang on the edge of a neighbour, and boundaries whose nodes lie at one place. `name`: of
/// the mesh, for messages. `made`: by a rule, so that no triangles overlap.
Triangles checked_mesh(RawMesh raw, const std::string& name, Log& log, bool made = false);

RawMesh rectangle_of(const MeshKeys::Rectangle& keys, std::uint64_t seed);
RawMesh disc_of(const MeshKeys::Disc& keys);
/// Gmsh's MSH, ASCII, 2.2 and 4.1: triangles, and lines of physical groups as named parts of the boundary, each of
/// which may belong to several.
RawMesh read_gmsh(const std::string& path);
/// VTK's XML UnstructuredGrid, ASCII or inline base64 without compression: triangles, and lines, whose cell data
/// `gmsh:physical` or `tag` numbers parts of the boundary, and of which other whole-number arrays of 0 and 1 name
/// parts.
RawMesh read_vtu(const std::string& path);

}  // namespace cambium::graph
