// Equations as text: parsing, derivatives on true coordinates, and the test that tells x from z.
#include <fstream>
#include <sstream>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/superres/equations/residual.hpp"
#include "plugins/superres/equations/stencil.hpp"
#include "plugins/superres/tasks/verify.hpp"
#include "tests/catch.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::superres;

namespace {

const Vocabulary words{{"p", "b", "u", "w"}, {{"P", 0.01}, {"R", 0.02}}};

Equation parsed(const std::string& text) { return parse_equation(text, words, 1); }

/// T_n(s) and its derivative with respect to s.
std::pair<double, double> chebyshev(int n, double s) {
  double t0 = 1.0, t1 = s, u0 = 1.0, u1 = 2.0 * s;  // first and second kind
  if (n == 0) return {1.0, 0.0};
  for (int k = 1; k < n; ++k) {
    const double t = 2.0 * s * t1 - t0, u = 2.0 * s * u1 - u0;
    t0 = t1;
    t1 = t;
    u0 = u1;
    u1 = u;
  }
  return {t1, n * u0};
}

/// The steady roll of data/roll_ra1e5.csv on nx x nz points, clustered at the walls.
FieldData roll(int nx, int nz) {
  FieldData data;
  data.file = "roll";
  data.names = {"b", "u", "w"};
  data.period = 2.0;
  data.axis[0] = {0.0, 1.0, 2.0};
  for (int i = 0; i < nx; ++i) data.axis[1].push_back(2.0 * i / nx);
  for (int k = 0; k < nz; ++k) data.axis[2].push_back(0.5 * (1.0 - std::cos(M_PI * (k + 0.5) / nz)));
  const std::size_t size = static_cast<std::size_t>(nx) * nz;
  std::vector<double> b(size), u(size), w(size);
  for (int i = 0; i < nx; ++i)
    for (int k = 0; k < nz; ++k) b[i * nz + k] = 0.5 - data.axis[2][k];
  std::ifstream in(CAMBIUM_SOURCE_DIR "/tests/plugins/superres/data/roll_ra1e5.csv");
  REQUIRE(in);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream row(line);
    std::string kind;
    int m, n;
    double c;
    row >> kind >> m >> n >> c;
    for (int k = 0; k < nz; ++k) {
      const auto [value, slope] = chebyshev(n, 2.0 * data.axis[2][k] - 1.0);
      for (int i = 0; i < nx; ++i) {
        const double angle = m * M_PI * data.axis[1][i];
        const std::size_t at = static_cast<std::size_t>(i) * nz + k;
        if (kind == "theta")
          b[at] += c * value * std::cos(angle);
        else {
          u[at] -= 2.0 * c * slope * std::sin(angle);
          w[at] += c * value * m * M_PI * std::cos(angle);
        }
      }
    }
  }
  for (const auto* field : {&b, &u, &w}) {
    std::vector<double> steady;
    for (int t = 0; t < 3; ++t) steady.insert(steady.end(), field->begin(), field->end());
    data.values.push_back(std::move(steady));
  }
  return data;
}

const Vocabulary roll_words{{"b", "u", "w"}, {{"P", 1.0 / std::sqrt(1e5)}}};
const char* heat = "dt(b) + u*dx(b) + w*dz(b) - P*(dxx(b) + dzz(b)) = 0";
const char* swapped_heat = "dt(b) + u*dz(b) + w*dx(b) - P*(dxx(b) + dzz(b)) = 0";

}  // namespace

TEST_CASE("weights of derivatives are exact for polynomials") {
  const std::vector<double> nodes{0.0, 0.1, 0.35, 0.5, 0.9, 1.3, 1.4};
  for (int order = 0; order <= 2; ++order) {
    const auto w = derivative_weights(0.4, nodes, order);
    double sum = 0.0;
    for (std::size_t k = 0; k < nodes.size(); ++k) sum += w[k] * std::pow(nodes[k], 5);
    const double exact[] = {std::pow(0.4, 5), 5.0 * std::pow(0.4, 4), 20.0 * std::pow(0.4, 3)};
    CHECK(sum == Approx(exact[order]).epsilon(1e-12));
  }
}

TEST_CASE("equations are expanded into terms") {
  const auto heat_terms = parsed("dt(b) + u*dx(b) + w*dz(b) - P*(dxx(b) + dzz(b)) = 0");
  CHECK(heat_terms.terms.size() == 5);
  CHECK(heat_terms.derivatives().size() == 7);
  CHECK(heat_terms.terms.back().coefficient == -0.01);
  const auto product = parsed("dx(u*b) = u*dx(b)");  // leaves b dx(u)
  REQUIRE(product.terms.size() == 1);
  CHECK(product.terms[0].factors == std::vector<Derivative>{{1, {}}, {2, {0, 1, 0}}});
  CHECK(parsed("2*u^2/4 - u*u = 0").terms[0].coefficient == -0.5);
  CHECK(parsed("dx(dz(u)) - dxz(u) + 1e-3 = 0").terms.size() == 1);
}

TEST_CASE("messages of equations point at the column") {
  CHECK_THROWS_WITH(parsed("dt(b) + q*dx(b) = 0"),
                    "equation 1, column 9: 'q' is neither a field (p, b, u, w) nor a constant (P, R)\n"
                    "  dt(b) + q*dx(b) = 0\n          ^");
  CHECK_THROWS_WITH(parsed("dt(b) + w*dy(b) = 0"),
                    "equation 1, column 12: 'dy' takes a derivative along 'y', but the axes are t, x, z\n"
                    "  dt(b) + w*dy(b) = 0\n             ^");
  CHECK_THROWS_WITH(
      parsed("dxxx(b) = 0"),
      "equation 1, column 1: derivatives beyond the second are not carried; introduce a field for the inner one\n"
      "  dxxx(b) = 0\n  ^");
  CHECK_THROWS_WITH(parsed("lap(b) = 0"),
                    "equation 1, column 1: 'lap' is no derivative; write dt(..), dx(..), dz(..), dxx(..), dxz(..)\n"
                    "  lap(b) = 0\n  ^");
  CHECK_THROWS_WITH(parsed("u / w = 0"),
                    "equation 1, column 5: only a number or a constant can divide\n  u / w = 0\n      ^");
  CHECK_THROWS_WITH(parsed("dx(u = 0"), "equation 1, column 6: ')' is expected here\n  dx(u = 0\n       ^");
}

TEST_CASE("the exact roll obeys the equations, and not those with x and z swapped") {
  const auto data = roll(96, 72);
  const auto right = verify(parse_equation(heat, roll_words, 1), data);
  const auto wrong = verify(parse_equation(swapped_heat, roll_words, 1), data);
  const auto continuity = verify(parse_equation("dx(u) + dz(w) = 0", roll_words, 2), data);
  const auto shear = verify(parse_equation("dz(u) + dx(w) = 0", roll_words, 2), data);
  INFO("heat " << right.residual.relative() << ", swapped " << wrong.residual.relative() << ", continuity "
               << continuity.residual.relative() << ", swapped " << shear.residual.relative());
  CHECK(right.residual.relative() < 1e-3);
  CHECK(wrong.residual.relative() > 0.1);
  CHECK(continuity.residual.relative() < 1e-3);
  CHECK(shear.residual.relative() > 0.1);
  CHECK(refusal(right, 1e-3, 1).empty());
  CHECK(refusal(continuity, 1e-3, 2).empty());
  REQUIRE(wrong.better());
  CHECK(wrong.better()->first == 1);
  CHECK(wrong.better()->second == 2);
  const auto text = refusal(wrong, 0.05, 1);
  CHECK_THAT(text, Catch::StartsWith("equation 1: the data themselves have a residual of 1.07 of its largest term, "
                                     "allowed is 0.05; with x and z exchanged it is "));
  CHECK_THAT(text, Catch::EndsWith(": these axes are swapped in the equation"));
}

TEST_CASE("vectors of Dedalus and trajectories of The Well give the fields that single scalars give") {
  const Comm comm(MPI_COMM_SELF);
  const SharedScratch scratch(comm);
  const std::vector<double> t{0, 1, 2}, x{0, 1, 2, 3}, z{0, 0.4};
  auto value = [](int field, int k, int i, int j) { return 1000.0 * field + 100 * k + 10 * i + j; };  // p, b, u, w
  const auto dedalus = scratch.file("dedalus.h5"), well = scratch.file("well.hdf5");
  std::vector<double> p, b, vector, well_p, well_b, well_vector;
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 2; ++j) p.push_back(value(0, k, i, j)), b.push_back(value(1, k, i, j));
    for (int c = 0; c < 2; ++c)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 2; ++j) vector.push_back(value(2 + c, k, i, j));
  }
  for (int run = 0; run < 3; ++run)  // the second one is ours
    for (int k = 0; k < 3; ++k)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 2; ++j) {
          const double sign = run == 1 ? 1.0 : -1.0;
          well_p.push_back(sign * value(0, k, i, j));
          well_b.push_back(sign * value(1, k, i, j));
          for (int c = 0; c < 2; ++c) well_vector.push_back(sign * value(2 + c, k, i, j));
        }
  {
    auto file = io::File::create(dedalus);
    file.write("/scales/sim_time", t);
    file.write("/scales/x_hash_ab12", x);
    file.write("/scales/z_hash_cd34", z);
    file.write("/tasks/pressure", io::tensor_of(p.data(), {3, 4, 2}));
    file.write("/tasks/buoyancy", io::tensor_of(b.data(), {3, 4, 2}));
    file.write("/tasks/u", io::tensor_of(vector.data(), {3, 2, 4, 2}));
    auto other = io::File::create(well);
    other.write("/dimensions/time", t);
    other.write("/dimensions/x", x);
    other.write("/dimensions/y", z);
    other.write("/t0_fields/pressure", io::tensor_of(well_p.data(), {3, 3, 4, 2}));
    other.write("/t0_fields/buoyancy", io::tensor_of(well_b.data(), {3, 3, 4, 2}));
    other.write("/t1_fields/velocity", io::tensor_of(well_vector.data(), {3, 3, 4, 2, 2}));
  }
  for (const auto& path : {dedalus, well + "#1"}) {
    CAPTURE(path);
    const auto data = read_fields(path, {"p", "b", "u", "w"}, 2, true);
    CHECK(data.axis[0] == std::vector<double>{1, 2});
    CHECK(data.axis[2] == z);
    for (int f = 0; f < 4; ++f)
      for (int i = 0; i < 4; ++i) CHECK(data.at(f, 1, i, 1) == value(f, 2, i, 1));
  }
  CHECK_THROWS_WITH(read_fields(well, {"q"}, 2, true),
                    "'" + well + "' has no field 'q' (it has: buoyancy, pressure, velocity)");
}

TEST_CASE("axes in another order and coefficients are told by what a file says of them") {
  const Comm comm(MPI_COMM_SELF);
  const SharedScratch scratch(comm);
  const std::vector<double> t{0, 1}, x{0, 1, 2}, values(18, 1.0);  // as many points along both axes
  const auto path = scratch.file("fields.h5"), well = scratch.file("well.h5");
  const auto write = [&](std::vector<std::string> axes, std::vector<int> on_grid) {
    auto file = io::File::create(path);
    file.write("/scales/sim_time", t);
    file.write("/scales/x_hash_ab12", x);
    file.write("/scales/z_hash_cd34", x);
    file.write("/tasks/b", io::tensor_of(values.data(), {2, 3, 3}));
    file.dataset("/tasks/b").set_attribute("DIMENSION_LABELS", axes);
    file.dataset("/tasks/b").set_attribute("grid_space", on_grid);
    auto other = io::File::create(well);
    other.write("/dimensions/time", t);
    other.write("/dimensions/x", x);
    other.write("/dimensions/z", x);
    other.group("/dimensions").set_attribute("spatial_dims", std::vector<std::string>(axes.end() - 2, axes.end()));
    other.write("/t0_fields/b", io::tensor_of(values.data(), {1, 2, 3, 3}));
  };
  const auto read = [&](const std::string& file) { read_fields(file, {"b"}, 2, true); };
  write({"t", "x", "z"}, {1, 1});
  CHECK_NOTHROW(read(path));
  CHECK_NOTHROW(read(well));
  write({"t", "z", "x"}, {1, 1});
  CHECK_THROWS_WITH(read(path),
                    "'/tasks/b' of '" + path + "' has the axes (z, x), expected (x, z); turn the array and its axes");
  CHECK_THROWS_WITH(
      read(well), "'/t0_fields/b' of '" + well + "' has the axes (z, x), expected (x, z); turn the array and its axes");
  write({"t", "kx", "z"}, {0, 1});
  CHECK_THROWS_WITH(read(path), "'/tasks/b' in '" + path +
                                    "' holds coefficients of a basis (t, kx, z), expected values at points; save the "
                                    "task with layout='g'");
}

TEST_CASE("fields are read from the last frames and bad ones are named") {
  const Comm comm(MPI_COMM_SELF);
  const SharedScratch scratch(comm);
  const std::string path = scratch.file("fields.h5");
  const std::vector<double> t{0, 1, 2, 3}, x{0, 1, 2}, z{0, 0.4};
  std::vector<double> b(24);
  for (std::size_t k = 0; k < b.size(); ++k) b[k] = static_cast<double>(k);
  auto write = [&](const std::vector<double>& values) {
    auto file = io::File::create(path);
    file.write("/scales/sim_time", t);
    file.write("/scales/x_hash_ab12", x);
    file.create_group("/scales/z").write("1.0", z);
    file.write("/tasks/b", io::tensor_of(values.data(), {4, 3, 2}));
    file.write("/tasks/thin", io::tensor_of(values.data(), {4, 2, 3}));
  };
  write(b);
  const auto data = read_fields(path, {"b"}, 2, true);
  CHECK(data.axis[0] == std::vector<double>{2, 3});
  CHECK(data.period == Approx(3.0));
  CHECK(data.at(0, 1, 2, 1) == 23.0);
  CHECK_THROWS_WITH(read_fields(path, {"q"}, 2, true), "'" + path + "' has no field 'q' (it has: b, thin)");
  CHECK_THROWS_WITH(read_fields(path, {"thin"}, 2, true),
                    "field 'thin' of '" + path + "' has shape (4, 2, 3), its coordinates require (4, 3, 2)");
  b[19] = std::nan("");
  write(b);
  CHECK_THROWS_WITH(
      read_fields(path, {"b"}, 2, true),
      "field 'b' of '" + path + "' is not finite at t = 3, x = 0, z = 0.4; leave that frame out or mask it");
}
