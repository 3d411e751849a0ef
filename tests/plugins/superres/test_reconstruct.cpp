// The stage `reconstruct` on flows between walls and around a period, and beside the solver itself.
#include "core/io/hdf5/h5.hpp"
#include "plugins/superres/evaluate/flow_statistics.hpp"
#include "plugins/superres/evaluate/scores.hpp"
#include "tests/plugins/superres/recorded_flow.hpp"

using namespace cambium;
using namespace cambium::superres;
using namespace cambium::superres::test;

namespace {

const std::vector<std::string> all_fields{"p", "b", "u", "w"};

/// A heated cavity on its way to the steady state: 9 frames of 32 x 32 points.
std::string cavity(Workshop& shop) {
  Square run("{rayleigh: 1e5, prandtl: 0.71, cells: [32, 32], end_time: 12, sample_interval: 0.5}");
  return shop.record(run, "cavity.h5", 8.0, 12.0, 0.5);
}

/// A layer that is periodic along x: 9 frames of 48 x 24 points.
std::string layer(Workshop& shop) {
  Plates run("{rayleigh: 1e5, width: 2, cells: [48, 24], end_time: 17, sample_interval: 0.25, initial: {noise: 0.3}}");
  return shop.record(run, "layer.h5", 15.0, 17.0, 0.25);
}

/// The same fields, and no word on what x does at its ends.
std::string silent(Workshop& shop, const std::string& path) {
  const auto data = read_fields(path, all_fields, 100, {});
  const auto out = shop.scratch.file("silent.h5");
  auto file = io::File::create(out);
  file.write("/scales/sim_time", data.axis[0]);
  file.write("/scales/x", data.axis[1]);
  file.write("/scales/z", data.axis[2]);
  for (std::size_t f = 0; f < 4; ++f)
    file.write("/tasks/" + data.names[f],
               io::tensor_of(data.values[f].data(),
                             {std::ssize(data.axis[0]), std::ssize(data.axis[1]), std::ssize(data.axis[2])}));
  return out;
}

}  // namespace

TEST_CASE("a cavity is rebuilt between its walls, not around a period") {
  Workshop shop;
  const auto s =
      shop.reconstruct("{data: " + cavity(shop) + ", rayleigh: 1e5, prandtl: 0.71, ratio: [1, 4, 4], frames: 9}");
  CAPTURE(s.at("rel_l2_b"), s.at("rel_l2_u"), s.at("rel_l2_w"), s.at("nmae_dissipation"), s.at("nmae_integral_length"));
  CHECK(s.at("rel_l2_b")[1] <
        0.04);  // around a period 0.66, 0.080 and 0.51; eight samples see little of the layers at the walls
  CHECK(s.at("rel_l2_u")[1] < 0.07);
  CHECK(s.at("rel_l2_w")[1] < 0.30);
  for (const auto& [name, values] : s)
    for (double value : values) CHECK(std::isfinite(value));
}

TEST_CASE("the Nusselt number is that of the way that heat takes") {
  Workshop shop;
  const std::string more = ", rayleigh: 1e5, prandtl: 0.71, ratio: [1, 4, 4], frames: 9}";
  Square steady("{rayleigh: 1e5, prandtl: 0.71, cells: [32, 32], end_time: 80, sample_interval: 0.5}");
  const auto path = shop.record(steady, "steady.h5", 76.0, 80.0, 0.5);
  const auto square = shop.reconstruct("{data: " + path + more);
  CHECK(square.at("true_nusselt")[0] == Approx(4.519).epsilon(0.05));  // de Vahl Davis 1983; <w b> gives 2.9
  CHECK(square.at("nusselt")[1] == Approx(square.at("true_nusselt")[0]).epsilon(0.05));
  // Warm on the right: the same heat goes to the left.
  auto data = read_fields(path, all_fields, 9, {});
  const auto mirrored = [&](std::size_t f, std::size_t t, std::size_t x, std::size_t z) {
    return (f == 2 ? -1.0 : 1.0) * data.at(f, t, data.nx() - 1 - x, z);
  };
  FieldData other = data;
  for (std::size_t f = 0; f < 4; ++f)
    for (std::size_t t = 0, at = 0; t < data.axis[0].size(); ++t)
      for (std::size_t x = 0; x < data.nx(); ++x)
        for (std::size_t z = 0; z < data.nz(); ++z, ++at) other.values[f][at] = mirrored(f, t, x, z);
  CHECK(heat_path(other, 1).sign == -1.0);
  const auto s = scores_of(other, other, 0.01, std::sqrt(0.71e5), {1, 2, 3});
  CHECK(s.nusselt == Approx(square.at("true_nusselt")[0]).epsilon(1e-3));
  // A layer is one, with or without side walls, which the solver does not know.
  const auto plates = layer(shop);
  io::File::append(plates).set_attribute("Prandtl", 0.71);  // the stage does not solve the equations here
  const auto round = shop.reconstruct("{data: " + plates + more);
  const auto walled = "{data: " + silent(shop, plates) + ", periodic: false" + more;
  CHECK(shop.reconstruct(walled).at("true_nusselt")[0] == Approx(round.at("true_nusselt")[0]).epsilon(1e-6));
  const std::string nudged = walled.substr(0, walled.size() - 1) + ", methods: [nudged]}";
  CHECK(shop.message(nudged).ends_with(
      "silent.h5' is heated between its walls otherwise than on the left one: leave it out of 'methods'"));
}

TEST_CASE("a periodic layer is rebuilt around its period") {
  Workshop shop;
  const auto s = shop.reconstruct("{data: " + layer(shop) + ", rayleigh: 1e5, ratio: [1, 4, 3], frames: 9}");
  CAPTURE(s.at("rel_l2_b"), s.at("rel_l2_u"), s.at("rel_l2_w"));
  CHECK(s.at("rel_l2_b")[1] < 0.08);
  CHECK(s.at("rel_l2_w")[1] < 0.07);
  CHECK(ends_of_x(read_fields(shop.scratch.file("layer.h5"), all_fields, 1, {})) == "x periodic, as the file states");
}

TEST_CASE("a file that does not say whether x is periodic is judged by its values") {
  Workshop shop;
  const auto walls = read_fields(silent(shop, cavity(shop)), all_fields, 9, {});
  CHECK(walls.period == 0.0);
  CHECK(ends_of_x(walls) ==
        "x ends at walls, by its values, since the file does not state it: set 'periodic' to choose");
  const auto around = read_fields(silent(shop, layer(shop)), all_fields, 9, {});
  CHECK(around.period == Approx(2.0));
  CHECK(read_fields(shop.scratch.file("silent.h5"), all_fields, 9, false).period == 0.0);
}

TEST_CASE("what is written of a reconstruction says what x does at its ends") {
  Workshop shop;
  const auto data = cavity(shop);
  shop.reconstruct(
      "{data: " + data +
      ", rayleigh: 1e5, prandtl: 0.71, ratio: [1, 4, 4], frames: 9, write: {method: cubic, points: [3, 20, 20]}}");
  CHECK(ends_of_x(read_fields(shop.scratch.file("reconstruction.h5"), all_fields, 9, {})) ==
        "x ends at walls, as the file states");
}

TEST_CASE("between walls the integral length is that of the flow") {
  FieldData data;
  data.names = {"b", "u", "w"};
  data.axis[0] = {0.0};
  for (int i = 0; i < 48; ++i) data.axis[1].push_back((i + 0.5) / 48);
  for (int k = 0; k < 40; ++k) data.axis[2].push_back((k + 0.5) / 40);
  data.values.resize(3);
  for (double x : data.axis[1])
    for (double z : data.axis[2]) {
      data.values[0].push_back(0.0);
      data.values[1].push_back(M_PI * std::sin(2.0 * M_PI * x) * std::cos(M_PI * z));
      data.values[2].push_back(std::sin(2.0 * M_PI * x) * std::sin(M_PI * z));
    }
  const auto s = flow_statistics(data, 0.01, {0, 1, 2}).front();
  CHECK(s.values[7] == Approx(1.0).epsilon(1e-6));  // one wave from wall to wall
}

TEST_CASE("the nudged solver is the simulation where it sees every point, and between frames") {
  Workshop shop;
  const auto s = shop.reconstruct("{data: " + layer(shop) +
                                  ", rayleigh: 1e5, ratio: [8, 1, 1], frames: 9, methods: [linear, cubic, nudged]}");
  CAPTURE(s.at("rel_l2_p"), s.at("rel_l2_b"), s.at("rel_l2_u"), s.at("rel_l2_w"));
  CHECK(s.at("rel_l2_b")[0] > 0.02);  // straight from the first frame to the last one
  for (const char* name : {"rel_l2_b", "rel_l2_u", "rel_l2_w"})
    CHECK(s.at(name)[2] < 0.07 * s.at(name)[0]);  // velocities pass from centres to faces
}

TEST_CASE("the nudged solver knows more of a flow than interpolation does, if it has the flow's numbers") {
  Workshop shop;
  const auto data = layer(shop);
  const auto with = [&](const std::string& rayleigh) {
    io::File::append(data).set_attribute("Rayleigh", std::stod(rayleigh));
    return shop.reconstruct("{data: " + data + ", rayleigh: " + rayleigh +
                            ", ratio: [4, 6, 4], frames: 9, methods: [linear, cubic, nudged]}");
  };
  const auto right = with("1e5"), wrong = with("1e4");
  CAPTURE(right.at("rel_l2_b"), right.at("rel_l2_u"), right.at("rel_l2_w"), wrong.at("rel_l2_w"),
          right.at("divergence"));
  for (const char* name : {"rel_l2_b", "rel_l2_u", "rel_l2_w"}) {
    CHECK(right.at(name)[2] < 0.9 * right.at(name)[1]);
    CHECK(right.at(name)[2] < 0.7 * wrong.at(name)[2]);
  }
  CHECK(wrong.at("rel_l2_w")[2] > right.at("rel_l2_w")[1]);
  CHECK(right.at("divergence")[2] < 0.1 * right.at("divergence")[1]);
  CHECK(right.at("seconds").size() == 3);
}

TEST_CASE("the nudged solver computes a cavity between its walls") {
  Workshop shop;
  const auto s = shop.reconstruct(
      "{data: " + cavity(shop) +
      ", rayleigh: 1e5, prandtl: 0.71, ratio: [2, 4, 4], frames: 9, methods: [linear, cubic, nudged]}");
  CAPTURE(s.at("rel_l2_b"), s.at("rel_l2_u"), s.at("rel_l2_w"));
  for (const char* name : {"rel_l2_b", "rel_l2_u", "rel_l2_w"}) CHECK(s.at(name)[2] < s.at(name)[1]);
}
