#include "plugins/md/domain/device_rows.hpp"

#include <cmath>

#include "plugins/md/domain/spatial_cells.hpp"

namespace cambium::md {
namespace {

struct CellOf {
  View<double* [4]> x;
  Box box;
  SpatialCells cells;
  KOKKOS_INLINE_FUNCTION int operator()(int i) const {
    const double r[3] = {x(i, 0), x(i, 1), x(i, 2)};
    double s[3];
    box.to_fractional(r, s);
    return cells.index(s);
  }
};

struct ByTag {
  View<std::int64_t*> tag;
  KOKKOS_INLINE_FUNCTION bool operator()(int i, int j) const { return tag(i) < tag(j); }
};

struct RowOfCopy {
  View<int* [4]> copies;
  KOKKOS_INLINE_FUNCTION int operator()(int k) const { return copies(k, 0); }
};

/// Permutes an array of `width` values per row: row i becomes the former row order(i).
template <class T>
void permute_rows(T* rows, int width, int count, const View<int*>& order) {
  View<T*> moved(Kokkos::ViewAllocateWithoutInitializing("domain: permuted rows"),
                 static_cast<std::size_t>(count) * static_cast<std::size_t>(width));
  Kokkos::parallel_for(
      "domain: permute", Range(0, count), KOKKOS_LAMBDA(const int i) {
        const T* from = rows + static_cast<std::size_t>(order(i)) * static_cast<std::size_t>(width);
        for (int c = 0; c < width; ++c)
          moved(static_cast<std::size_t>(i) * static_cast<std::size_t>(width) + c) = from[c];
      });
  Kokkos::parallel_for(
      "domain: put back", Range(0, count * width), KOKKOS_LAMBDA(const int k) { rows[k] = moved(k); });
}

/// Selects the periodic images of the cell in which an atom needs a copy.
struct NearFaces {
  double reach[3], height[3], limit;
  bool right_angles;

  /// Distance in cells from the atom at fractional s to the image at `offset` in one direction.
  KOKKOS_INLINE_FUNCTION static double gap(double s, int offset) {
    const double below = offset - s, above = s - offset - 1, most = below > above ? below : above;
    return most > 0.0 ? most : 0.0;
  }
  KOKKOS_INLINE_FUNCTION bool holds(const double s[3], const int image[3]) const {
    double squared = 0.0;
    for (int d = 0; d < 3; ++d) {
      const int first = static_cast<int>(std::floor(s[d] - reach[d])),
                last = static_cast<int>(std::floor(s[d] + reach[d]));
      if (image[d] < first || image[d] > last) return false;
      const double distance = gap(s[d], image[d]) * height[d];
      squared += distance * distance;
    }
    return !right_angles || squared <= limit * limit;
  }
};

/// Appends the rows with a copy in one image, from entry `first` on; returns their number. Without space it only
/// counts.
int append_image(const View<double* [4]>& x, int rows, const Box& box, const NearFaces& near, const int (&image)[3],
                 int first, const View<int* [4]>& copies) {
  const int a = image[0], b = image[1], c = image[2], room = static_cast<int>(copies.extent(0));
  int found = 0;
  Kokkos::parallel_scan(
      "domain: images", Range(0, rows),
      KOKKOS_LAMBDA(const int i, int& sum, const bool last) {
        const double r[3] = {x(i, 0), x(i, 1), x(i, 2)};
        double s[3];
        box.to_fractional(r, s);
        const int at[3] = {a, b, c};
        if (!near.holds(s, at)) return;
        if (last && first + sum < room) {
          copies(first + sum, 0) = i;
          for (int d = 0; d < 3; ++d) copies(first + sum, d + 1) = -at[d];
        }
        ++sum;
      },
      found);
  return found;
}

}  // namespace

void order_rows_on_device(Particles& p, const std::vector<View<double**>*>& carried, const double low[3],
                          const double high[3], Buckets& buckets) {
  const int n = p.nlocal;
  if (n == 0) return;
  const SpatialCells cells(p.box, low, high, n);
  fill_buckets(buckets, n, static_cast<int>(cells.total()), CellOf{p.x, p.box, cells}, ByTag{p.tag});
  const View<int*> order = buckets.member;
  permute_rows(p.x.data(), 4, n, order);
  permute_rows(p.v.data(), 3, n, order);
  permute_rows(p.f.data(), 3, n, order);
  permute_rows(p.tag.data(), 1, n, order);
  permute_rows(p.image.data(), 3, n, order);
  permute_rows(p.group.data(), 1, n, order);
  for (View<double**>* array : carried) {
    if (static_cast<int>(array->extent(0)) < p.capacity()) Kokkos::resize(*array, p.capacity(), array->extent(1));
    permute_rows(array->data(), static_cast<int>(array->extent(1)), n, order);
  }
}

int images_on_device(const Particles& p, double range, View<int* [4]>& copies) {
  constexpr double margin = 1e-9;  // as in borders()
  const auto height = p.box.heights();
  NearFaces near;
  near.limit = range * (1.0 + margin) + margin;
  near.right_angles = !p.box.is_triclinic();
  int layers[3];
  for (int d = 0; d < 3; ++d) {
    near.reach[d] = near.limit / height[d];
    near.height[d] = height[d];
    layers[d] = static_cast<int>(near.reach[d]) + 1;
  }
  const auto list = [&] {
    int total = 0;
    for (int c = -layers[2]; c <= layers[2]; ++c)
      for (int b = -layers[1]; b <= layers[1]; ++b)
        for (int a = -layers[0]; a <= layers[0]; ++a)
          if (a || b || c) total += append_image(p.x, p.nlocal, p.box, near, {a, b, c}, total, copies);
    return total;
  };
  int total = list();
  if (total > static_cast<int>(copies.extent(0))) {
    copies = View<int* [4]>(Kokkos::ViewAllocateWithoutInitializing("domain: copies"),
                            static_cast<std::size_t>(total + total / 8));
    total = list();
  }
  return total;
}

void entries_by_row(const View<int* [4]>& copies, int count, int rows, Buckets& buckets) {
  fill_buckets(buckets, count, rows, RowOfCopy{copies}, ByNumber{});
}

}  // namespace cambium::md
