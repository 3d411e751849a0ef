#include "core/base/error.hpp"
#include "core/particles/box.hpp"
#include "tests/catch.hpp"

using namespace cambium;

TEST_CASE("a rotated cell keeps lengths, angles and volume") {
  const double rows[3][3] = {{3.0, 1.0, 0.5}, {-0.7, 4.0, 0.2}, {0.3, -0.4, 5.0}};
  double q[3][3];
  const Box box = Box::from_vectors(rows, q);
  auto dot = [](const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; };
  for (int r = 0; r < 3; ++r)
    for (int s = 0; s < 3; ++s) CHECK(dot(box.h[r], box.h[s]) == Approx(dot(rows[r], rows[s])).margin(1e-12));
  for (int r = 0; r < 3; ++r)
    for (int k = 0; k < 3; ++k) {
      const double turned = rows[r][0] * q[0][k] + rows[r][1] * q[1][k] + rows[r][2] * q[2][k];
      CHECK(turned == Approx(box.h[r][k]).margin(1e-12));
    }
}

TEST_CASE("fractional coordinates invert Cartesian ones") {
  const double rows[3][3] = {{3.0, 0, 0}, {-0.7, 4.0, 0}, {0.3, -0.4, 5.0}};
  const Box box = Box::from_vectors(rows);
  CHECK(box.is_triclinic());
  const double s[3] = {0.2, 0.7, 0.9};
  double x[3], back[3];
  box.to_cartesian(s, x);
  box.to_fractional(x, back);
  for (int k = 0; k < 3; ++k) CHECK(back[k] == Approx(s[k]));
}

TEST_CASE("a flat or left-handed cell is refused") {
  const double rows[3][3] = {{0, 3.0, 0}, {4.0, 0, 0}, {0, 0, 5.0}};
  CHECK_THROWS_AS(Box::from_vectors(rows), InputError);
}
