#pragma once
#include <string>
#include <vector>

#include "core/base/tensor_ref.hpp"
#include "core/parallel/kokkos.hpp"
#include "plugins/superres/convection/row_layout.hpp"

namespace cambium::superres {

/// Rows with ghosts of one or several fields: (field, row 0..m+1, column), with the columns of RowLayout.
using Fields = View<double***>;

/// Additional scalars carried by the flow come last. Flows in two dimensions have no v: their scalars begin there.
enum FieldIndex { field_u = 0, field_w = 1, field_b = 2, field_p = 3, field_v = 4 };

/// Transported fields have a slot among tendencies and right-hand sides; the pressure has none.
KOKKOS_INLINE_FUNCTION constexpr int slot_of(int field) { return field < field_p ? field : field - 1; }
KOKKOS_INLINE_FUNCTION constexpr int field_of_slot(int slot) { return slot < field_p ? slot : slot + 1; }

/// A scalar s transported by the flow: ds/dt + u grad s = diffusivity lap s. A physics lists its scalars in Fluid; they
/// are then part of the state, checkpoints, the output vtkhdf and every step.
struct Scalar {
  std::string name, meaning;
  double diffusivity = 0.0;
  bool plates_fix = true;          ///< s is fixed on the plates; false: no flux through them
  double bottom = 0.0, top = 0.0;  ///< s on the plates
  double left = 0.0, right = 0.0;  ///< s on side walls
};

/// Fluid and boundaries, in free-fall units (length H, velocity sqrt(g alpha dT H), temperature dT).
struct Fluid {
  double viscosity = 0.0;    ///< sqrt(Pr/Ra)
  double diffusivity = 0.0;  ///< 1/sqrt(Ra Pr)
  Wall plates = Wall::no_slip;
  bool plates_conduct = true;        ///< b is fixed on the plates; false: no heat flux through them
  double bottom = 0.5, top = -0.5;   ///< b on the plates
  double left = 0.0, right = 0.0;    ///< b on side walls (grids that are not periodic); their u = w = 0
  std::vector<Scalar> scalars = {};  ///< in addition to b
};

/// Field of the first scalar after b.
inline int first_scalar(const Grid& grid) { return grid.spatial() ? field_v + 1 : field_v; }
/// Slots: u, w, b, v in three dimensions, scalars.
inline int carried_by(const Grid& grid, const Fluid& fluid) {
  return first_scalar(grid) - 1 + static_cast<int>(fluid.scalars.size());
}

/// Velocity (u, w) or (u, v, w), buoyancy b, pressure p and further scalars of one rank.
struct Flow {
  Slab slab;
  Fluid fluid;
  RowLayout layout;
  Fields fields;  ///< (4, or 5 with v, + scalars, m+2, columns)

  Flow(const Slab& slab, const Fluid& fluid);
  View<double**> field(int index) const { return Kokkos::subview(fields, index, Kokkos::ALL, Kokkos::ALL); }
  int nx() const { return slab.grid.nx; }
  int rows() const { return slab.rows; }
  int first_scalar() const { return superres::first_scalar(slab.grid); }
  int carried() const { return carried_by(slab.grid, fluid); }
  const Scalar& scalar(int field) const { return fluid.scalars[field - first_scalar()]; }
  /// Owned rows, interior columns: (m, nx), or (m, ny, nx).
  TensorRef tensor(int index) const;

  /// Fills ghost columns and lines of a field in rows first..last-1, from periodicity or the side walls.
  void fill_columns(int field, int first, int last) const;
  /// Then fills ghost rows beyond the plates, of all fields. Rows of other ranks are filled by a Halo.
  void fill_plates() const;
};

/// Fills ghost columns of rows first..last-1 of `v`: periodic, or on side walls v(-1) = sign v(0) + left, likewise on
/// the right. Then ghost lines, by periodicity.
void fill_columns(const View<double**>& v, const Grid& grid, int first, int last, double sign, double left,
                  double right);

}  // namespace cambium::superres
