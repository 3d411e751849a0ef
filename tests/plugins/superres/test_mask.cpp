// Points that the data hide: bodies in a flow take no part in residuals, scores and samples, whatever numbers stand
// there.
#include <cmath>
#include <set>

#include "core/io/hdf5/h5.hpp"
#include "plugins/superres/datasets/crops.hpp"
#include "plugins/superres/equations/mask.hpp"
#include "plugins/superres/equations/residual.hpp"
#include "plugins/superres/evaluate/scores.hpp"
#include "plugins/superres/samples/resampling.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::superres;

namespace {

constexpr int nt = 5, nx = 24, nz = 20;

/// A block whose last third along x is a wall to the ceiling from a third of the height on.
bool body(int i, int k) { return i >= 16 && k >= 7; }

/// p = 1 + x', b = t + z, u = x', w = -z with x' a smooth function of period 2: b obeys dt(b) + dz(b) - 2 = 0.
double formula(int field, double t, double x, double z) {
  const double wave = std::sin(M_PI * x);
  return field == 0 ? 1.0 + wave : field == 1 ? t + z : field == 2 ? 2.0 + wave : 1.0 - z;
}

/// The file of this flow with `inside` in the body, and a mask unless `shape` is empty.
void write(const std::string& path, double inside, std::vector<std::int64_t> shape) {
  std::vector<double> t, x, z;
  for (int k = 0; k < nt; ++k) t.push_back(0.5 * k);
  for (int i = 0; i < nx; ++i) x.push_back(2.0 * i / nx);
  for (int k = 0; k < nz; ++k) z.push_back((k + 0.5) / nz);
  auto file = io::File::create(path);
  file.write("/scales/sim_time", t);
  file.write("/scales/x", x);
  file.write("/scales/z", z);
  std::vector<int> mask;
  for (int f = 0; f < 4; ++f) {
    std::vector<double> values;
    for (double at : t)
      for (int i = 0; i < nx; ++i)
        for (int k = 0; k < nz; ++k) values.push_back(body(i, k) ? inside : formula(f, at, x[i], z[k]));
    file.write("/tasks/" + flow_fields[f], io::tensor_of(values.data(), {nt, nx, nz}));
  }
  for (int frame = 0; frame < (shape.size() == 3 ? nt : 1); ++frame)
    for (int i = 0; i < nx; ++i)
      for (int k = 0; k < nz; ++k) mask.push_back(body(i, k));
  if (shape.size() == 2) file.write("/tasks/mask", io::tensor_of(mask.data(), {nx, nz}));
  if (shape.size() == 3) file.write("/tasks/mask", io::tensor_of(mask.data(), {nt, nx, nz}));
}

Equation parsed(const std::string& text) { return parse_equation(text, {flow_fields, {}}, 1); }

}  // namespace

TEST_CASE("what stands under a mask changes no residual and no score") {
  const Scratch scratch;
  const auto path = scratch.file("body.h5"), other = scratch.file("other.h5"), whole = scratch.file("whole.h5");
  write(path, 1e6, {nx, nz});
  write(other, std::nan(""), {nt, nx, nz});
  write(whole, 1e6, {});
  const auto data = read_fields(path, flow_fields, 3, true), same = read_fields(other, flow_fields, 3, true);
  CHECK(data.hidden == same.hidden);
  CHECK(data.values == same.values);
  CHECK(data.is_hidden(1, 16, 7));
  CHECK_FALSE(data.is_hidden(1, 15, 7));
  CHECK(std::fabs(data.at(1, 2, 20, 15)) < 10.0);  // filled from around
  const auto heat = parsed("dt(b) + dz(b) - 2 = 0");
  CHECK(residual_of(heat, data).rms < 1e-10);
  CHECK(residual_of(heat, read_fields(whole, flow_fields, 3, true)).rms > 1e3);
  auto prediction = data;
  for (std::size_t n = 0; n < data.hidden.size(); ++n)
    if (data.hidden[n])
      for (auto& values : prediction.values) values[n] = -1e6;
  const auto s = scores_of(data, prediction, 0.01, 10.0, {1, 2, 3});
  for (double error : s.relative_l2) CHECK(error == 0.0);
  for (const auto& statistic : s.statistics) CHECK(statistic.nmae == 0.0);
  CHECK(s.nusselt == Approx(s.true_nusselt));
  CHECK(s.spectrum == 0.0);
}

TEST_CASE("means over what is seen are means over what is seen") {
  const Scratch scratch;
  const auto path = scratch.file("means.h5");
  write(path, 1e6, {nx, nz});
  const auto data = read_fields(path, flow_fields, 1, true);
  double energy = 0.0, flux = 0.0, count = 0.0;
  for (int i = 0; i < nx; ++i)
    for (int k = 0; k < nz; ++k) {
      if (body(i, k)) continue;
      const double x = 2.0 * i / nx, z = (k + 0.5) / nz, u = formula(2, 2.0, x, z), w = formula(3, 2.0, x, z);
      energy += 0.5 * (u * u + w * w);
      flux += w * formula(1, 2.0, x, z);
      count += 1.0;
    }
  const auto s = flow_statistics(data, 0.01, {1, 2, 3}).front();
  CHECK(s.values[0] == Approx(energy / count));
  CHECK(s.flux == Approx(flux / count));
}

TEST_CASE("crops draw no hidden point and no window that lies under the mask whole") {
  Comm comm{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Context context{comm, log, timing};
  const Scratch scratch;
  const auto path = scratch.file("crops.h5");
  write(path, 1e6, {nx, nz});
  Crops::Params p;
  p.data = {path};
  p.ratio = {1, 2, 2};
  p.scales = {1.0};
  p.crop = {2, 3, 3};
  p.points = 30;
  p.samples = 200;
  p.frames = nt;
  Crops crops(p, context);
  crops.open(context);
  std::vector<std::int64_t> ids;
  for (std::int64_t k = 0; k < 200; ++k) ids.push_back(k);
  std::set<double> heights;
  for (const auto& sample : crops.read(ids)) {
    const auto* points = static_cast<const double*>(sample->fields.at("points").data);
    const auto *values = static_cast<const float*>(sample->fields.at("values").data),
               *coarse = static_cast<const float*>(sample->fields.at("coarse").data);
    for (int n = 0; n < 30; ++n) {
      const double* at = points + 3 * n;
      REQUIRE_FALSE(
          body(static_cast<int>(std::lround(at[1] * nx / 2.0)) % nx, static_cast<int>(std::lround(at[2] * nz - 0.5))));
      for (int f = 0; f < 4; ++f)
        REQUIRE(values[4 * n + f] == Approx(formula(f, at[0], at[1], at[2])).epsilon(1e-5).margin(1e-5));
      heights.insert(at[2]);
    }
    for (std::int64_t n = 0; n < sample->fields.at("coarse").elements(); ++n) REQUIRE(std::fabs(coarse[n]) < 10.0);
  }
  CHECK(heights.size() == nz);
}

TEST_CASE("bodies of The Well hide points, ends of the domain do not") {
  const Scratch scratch;
  const auto path = scratch.file("well.hdf5");
  const std::vector<double> t{0, 1, 2}, x{0, 1, 2, 3}, z{0, 0.4, 0.8};
  std::vector<float> b;
  for (int run = 0; run < 2; ++run)
    for (int n = 0; n < 36; ++n)
      b.push_back(run == 1 && n % 12 == 5 ? NAN : static_cast<float>(n));  // the point x = 1, z = 0.8
  std::vector<int> ends{1, 0, 1}, bodies(2 * 3 * 4, 0);
  bodies[12 + 2 * 4 + 1] = 1;  // trajectory 1, z = 0.8, x = 1: the axes of this mask are y, x
  {
    auto file = io::File::create(path);
    file.write("/dimensions/time", t);
    file.write("/dimensions/x", x);
    file.write("/dimensions/y", z);
    file.write("/t0_fields/buoyancy", io::tensor_of(b.data(), {2, 3, 4, 3}));
    file.write("/boundary_conditions/y_wall/mask", ends);
    file.write("/boundary_conditions/xy_wall/mask", io::tensor_of(bodies.data(), {2, 3, 4}));
    auto one = file.group("/boundary_conditions/y_wall"), both = file.group("/boundary_conditions/xy_wall");
    one.set_attribute("bc_type", "WALL");
    both.set_attribute("bc_type", "wall");
    one.set_attribute("associated_dims", std::vector<std::string>{"y"});
    both.set_attribute("associated_dims", std::vector<std::string>{"y", "x"});
    both.set_attribute("sample_varying", 1);
    both.set_attribute("time_varying", 0);
  }
  CHECK(read_fields(path, {"b"}, 2, false).hidden.empty());
  const auto data = read_fields(path + "#1", {"b"}, 2, false);
  CHECK(std::count(data.hidden.begin(), data.hidden.end(), 1) == 2);
  CHECK(data.is_hidden(0, 1, 2));
  CHECK(data.at(0, 0, 1, 2) == Approx((14 + 20 + 16) / 3.0));  // of its three neighbours
}

TEST_CASE("a mask goes with its data to other places") {
  const Scratch scratch;
  const auto path = scratch.file("coarse.h5");
  write(path, 1e6, {nx, nz});
  const auto coarse = coarsened(read_fields(path, flow_fields, nt, true), {2, 4, 4});
  REQUIRE(coarse.hidden.size() == coarse.values[0].size());
  CHECK(coarse.is_hidden(0, 4, 4));
  CHECK_FALSE(coarse.is_hidden(0, 3, 4));
}
