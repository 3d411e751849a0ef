#include "plugins/superres/convection/plane_fft.hpp"

namespace cambium::superres {
namespace {

constexpr int block = 8;  ///< rows and columns that are transposed together, on CPUs a cache line each

/// to(c modes + k, y) = from(y, c half + k), or the reverse.
template <bool there>
void turn(const View<double**>& lines, const View<double**>& columns, int half, int modes, int ny) {
  const int blocks = (modes + block - 1) / block;
  Kokkos::parallel_for(
      "plane: turn", Range(0, 2 * blocks), KOKKOS_LAMBDA(int item) {
        const int c = item / blocks, from = item % blocks * block, to = from + block < modes ? from + block : modes;
        for (int start = 0; start < ny; start += block)
          for (int k = from; k < to; ++k)
            for (int y = start; y < start + block && y < ny; ++y) {
              if constexpr (there)
                columns(c * modes + k, y) = lines(y, c * half + k);
              else
                lines(y, c * half + k) = columns(c * modes + k, y);
            }
      });
}

}  // namespace

PlaneFft::PlaneFft(int nx, int ny, bool turned)
    : x_(nx), y_(ny), turned_(turned), half_x_(padded(x_.modes())), half_y_(padded(y_.modes())),
      lines_("modes along x", ny, 2 * half_x_),
      columns_("modes along x, turned", turned ? 2 * x_.modes() : 0, padded(ny)) {}

void PlaneFft::turn_forward() const { turn<true>(lines_, columns_, half_x_, x_.modes(), y_.length()); }
void PlaneFft::turn_backward() const { turn<false>(lines_, columns_, half_x_, x_.modes(), y_.length()); }

void PlaneFft::forward(const View<const double**>& in, int first, double* out) const {
  x_.forward(in, first, lines_, half_x_, y_.length());
  if (turned_) {
    turn_forward();
    return y_.forward(columns_, 0, View<double**>(out, 2 * x_.modes(), 2 * half_y_), half_y_, 2 * x_.modes());
  }
  for (int part = 0; part < 2; ++part)
    y_.forward_columns(lines_.data() + part * half_x_, 2 * half_x_, out + part * half(), half_x_, half_x_);
}

void PlaneFft::backward(double* in, const View<double**>& out, int first) const {
  if (turned_) {
    y_.backward(View<double**>(in, 2 * x_.modes(), 2 * half_y_), half_y_, columns_, 0, 2 * x_.modes());
    turn_backward();
  } else {
    for (int part = 0; part < 2; ++part)
      y_.backward_columns(in + part * half(), half_x_, lines_.data() + part * half_x_, 2 * half_x_, half_x_);
  }
  x_.backward(lines_, half_x_, out, first, y_.length());
}

}  // namespace cambium::superres
