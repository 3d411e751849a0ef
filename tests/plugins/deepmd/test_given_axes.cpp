// A general cell is calculated with in another orientation; nobody must notice. 30 random cells, each also turned by a
// random rotation: forces, stress, positions and velocities come back in the axes in which they were given.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/constants.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/npy.hpp"
#include "core/io/structures/extxyz_reader.hpp"
#include "core/particles/groups.hpp"
#include "tests/plugins/deepmd/stages.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;

namespace {

constexpr int cells = 30;
using Turn = std::array<double, 9>;

/// Rows of three numbers, each times the matrix.
std::vector<double> turned(std::vector<double> rows, const Turn& r) {
  for (std::size_t i = 0; i < rows.size(); i += 3) {
    const double x[3] = {rows[i], rows[i + 1], rows[i + 2]};
    for (std::size_t k = 0; k < 3; ++k) rows[i + k] = x[0] * r[k] + x[1] * r[3 + k] + x[2] * r[6 + k];
  }
  return rows;
}

/// R^T W R, what a tensor becomes when its vectors are turned by x -> x R.
std::vector<double> turned_tensor(const std::vector<double>& w, const Turn& r) {
  std::vector<double> out(9, 0.0);
  for (std::size_t k = 0; k < 81; ++k) {
    const std::size_t a = k / 27, b = k / 9 % 3, s = k / 3 % 3, t = k % 3;
    out[3 * a + b] += r[3 * s + a] * w[3 * s + t] * r[3 * t + b];
  }
  return out;
}

/// A rotation by a random quaternion.
Turn rotation(std::uint64_t seed) {
  const Random4 random(seed, Stream::test, 1, 0);
  double q[4], n = 0.0;
  for (int k = 0; k < 4; ++k) {
    q[k] = random.normal(k);
    n += q[k] * q[k];
  }
  for (double& c : q) c /= std::sqrt(n);
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  return {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
          2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
          2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
}

/// Atoms as a user's file has them.
struct Given {
  std::vector<double> cell, x, v;
  Given in_turn(const Turn& r) const { return {turned(cell, r), turned(x, r), turned(v, r)}; }
  std::string text() const {
    std::string out = fmt::format("{}\nLattice=\"{:.17g}\" Properties=species:S:1:pos:R:3:velo:R:3\n", x.size() / 3,
                                  fmt::join(cell, " "));
    for (std::size_t i = 0; i < x.size(); i += 3)
      out += fmt::format("{} {:.17g} {:.17g} {:.17g} {:.17g} {:.17g} {:.17g}\n", i % 9 ? "H" : "O", x[i], x[i + 1],
                         x[i + 2], v[i], v[i + 1], v[i + 2]);
    return out;
  }
};

/// 27 atoms near a grid in a random cell of some 8 Å, in general orientation.
Given random_cell(std::uint64_t seed) {
  Given out;
  std::vector<double> rows;
  for (std::uint64_t a = 0; a < 3; ++a) {
    const Random4 random(seed, Stream::test, 2, a);
    for (int k = 0; k < 3; ++k) rows.push_back(8.0 * (k == static_cast<int>(a)) + 1.5 * (2 * random.uniform(k) - 1));
  }
  out.cell = turned(rows, rotation(seed + 1000));
  for (std::uint64_t n = 0; n < 27; ++n) {
    const Random4 place(seed, Stream::test, 3, n), speed(seed, Stream::test, 4, n);
    const double s[3] = {(static_cast<double>(n % 3) + 0.2 + 0.4 * place.uniform(0)) / 3,
                         (static_cast<double>(n / 3 % 3) + 0.2 + 0.4 * place.uniform(1)) / 3,
                         (static_cast<double>(n / 9) + 0.2 + 0.4 * place.uniform(2)) / 3};
    for (std::size_t k = 0; k < 3; ++k) {
      out.x.push_back(s[0] * out.cell[k] + s[1] * out.cell[3 + k] + s[2] * out.cell[6 + k]);
      out.v.push_back(3.0 * speed.normal(static_cast<int>(k)));
    }
  }
  return out;
}

std::string saved(Stages& stages, const std::string& name, const Given& given) {
  const std::string path = stages.scratch.file(name + ".xyz");
  std::ofstream(path) << given.text();
  return path;
}

/// The energy that the tool prints, in eV: a number without axes.
double energy_of(Stages& stages, Engine& engine, const Given& given) {
  const Structure s = io::read_extxyz(saved(stages, "moved", given), 0, stages.comm);
  std::vector<int> types;
  for (int t : s.type) types.push_back(s.species[t].symbol == "H" ? 1 : 0);
  return evaluate(engine, s.x, types, s.box).energy;
}

std::string eval(Stages& stages, const std::string& model, const std::string& structure) {
  EvalOptions options;
  options.model = model;
  options.structure = structure;
  options.output = structure + ".forces";
  evaluate_files(options, stages.comm);
  return options.output;
}

std::string dynamics(const std::string& structure, const std::string& model, const std::string& rest) {
  return fmt::format(
      "{{physics: md, structure: {{file: '{}'}}, potential: {{type: deep_potential, model: '{}'}}, timestep: 0.0005, "
      "thermo: {{every: 2}}, output: [{{type: h5md, every: 2, velocities: true, forces: true}}, {{type: extxyz, every: "
      "2, velocities: true, forces: true}}], {}}}",
      structure, model, rest);
}

/// Everything with axes that a run wrote.
struct Written {
  std::vector<double> cell, x, v, f;          ///< of the H5MD trajectory, all frames
  std::vector<TextFrame> text;                ///< of the extended XYZ trajectory
  std::vector<std::vector<double>> pressure;  ///< bar, nine numbers a line of thermo.csv

  explicit Written(const std::string& folder) : text(text_frames(folder + "/trajectory.extxyz")) {
    const auto file = io::File::open(folder + "/trajectory.h5md");
    const std::string root = "/particles/trajectory/";
    cell = file.read<std::vector<double>>(root + "box/edges/value");
    x = file.read<std::vector<double>>(root + "position/value");
    v = file.read<std::vector<double>>(root + "velocity/value");
    f = file.read<std::vector<double>>(root + "force/value");
    auto t = text_table(folder + "/thermo.csv");
    for (std::size_t k = 0; k < t["step"].size(); ++k)
      pressure.push_back({t["pxx"][k], t["pxy"][k], t["pxz"][k], t["pxy"][k], t["pyy"][k], t["pyz"][k], t["pxz"][k],
                          t["pyz"][k], t["pzz"][k]});
  }
};

std::vector<double> frame(const std::vector<double>& all, std::size_t k, std::size_t size) {
  return {all.begin() + static_cast<long>(k * size), all.begin() + static_cast<long>((k + 1) * size)};
}

}  // namespace

TEST_CASE("eval gives forces in the axes of the file") {
  Stages stages;
  const std::string model = stages.model(1);
  const auto engine = make_engine(DeepPotentialModel::load(model), {});
  for (std::uint64_t seed = 0; seed < cells; ++seed) {
    INFO("cell " << seed);
    const Given given = random_cell(seed);
    const Turn r = rotation(seed);
    const TextFrame here = text_frames(eval(stages, model, saved(stages, "here", given)))[0];
    const TextFrame there = text_frames(eval(stages, model, saved(stages, "there", given.in_turn(r))))[0];
    CHECK(relative_error({here.cell.begin(), here.cell.end()}, given.cell) < 1e-14);
    CHECK(relative_error(here.part(0), given.x) < 3e-9);  // ten digits are written
    CHECK(relative_error(there.part(3), turned(here.part(3), r)) < 3e-9);
    // Minus the slope of the energy along the axes of the file: one atom, three directions.
    std::vector<double> slopes, forces;
    const std::size_t atom = seed % 27;
    for (std::size_t k = 3 * atom; k < 3 * atom + 3; ++k) {
      Given up = given, down = given;
      up.x[k] += 1e-4;
      down.x[k] -= 1e-4;
      slopes.push_back((energy_of(stages, *engine, down) - energy_of(stages, *engine, up)) / 2e-4);
      forces.push_back(here.part(3)[k]);
    }
    CHECK(relative_error(forces, slopes) < 1e-5);
  }
}

TEST_CASE("dynamics writes positions, velocities, forces and pressures in the axes of the file") {
  Stages stages;
  const std::string model = stages.model(2);
  const std::size_t n = 81;
  for (std::uint64_t seed = 0; seed < cells; ++seed) {
    INFO("cell " << seed);
    const Given given = random_cell(seed);
    const Turn r = rotation(seed);
    const Written here(stages.run("simulate", "here", dynamics(saved(stages, "here", given), model, "steps: 4")));
    const Written there(
        stages.run("simulate", "there", dynamics(saved(stages, "there", given.in_turn(r)), model, "steps: 4")));
    CHECK(relative_error(frame(here.cell, 0, 9), given.cell) < 1e-14);
    CHECK(relative_error(frame(here.x, 0, n), given.x) < 1e-14);
    CHECK(relative_error(frame(here.v, 0, n), given.v) < 1e-14);
    for (std::size_t k = 0; k < 3; ++k) {
      CHECK(relative_error(frame(there.cell, k, 9), turned(frame(here.cell, k, 9), r)) < 1e-14);
      CHECK(relative_error(frame(there.x, k, n), turned(frame(here.x, k, n), r)) < 1e-12);
      CHECK(relative_error(frame(there.v, k, n), turned(frame(here.v, k, n), r)) < 1e-12);
      CHECK(relative_error(frame(there.f, k, n), turned(frame(here.f, k, n), r)) < 1e-11);
      CHECK(relative_error(there.pressure[k], turned_tensor(here.pressure[k], r)) < 1e-11);
      CHECK(relative_error(here.text[k].part(0), frame(here.x, k, n)) < 1e-9);
      CHECK(relative_error(here.text[k].part(3), frame(here.v, k, n)) < 1e-9);
      CHECK(relative_error({here.text[k].cell.begin(), here.text[k].cell.end()}, given.cell) < 1e-14);
    }
    // eval of the last frame, whose text says in which axes it is, gives the forces that stand beside its positions.
    const TextFrame forces = text_frames(eval(stages, model, stages.scratch.file("here/trajectory.extxyz")))[0];
    CHECK(relative_error(forces.part(3), here.text[2].part(6)) < 1e-6);
  }
}

TEST_CASE("the pressure tensor is the slope of the energy along the axes of the file") {
  Stages stages;
  const std::string model = stages.model(1);
  const auto engine = make_engine(DeepPotentialModel::load(model), {});
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Given given = random_cell(seed);
    given.v.assign(given.v.size(), 0.0);
    const Written run(stages.run("simulate", "at_rest", dynamics(saved(stages, "at_rest", given), model, "steps: 0")));
    const auto& c = given.cell;
    const double volume =
        c[0] * (c[4] * c[8] - c[5] * c[7]) - c[1] * (c[3] * c[8] - c[5] * c[6]) + c[2] * (c[3] * c[7] - c[4] * c[6]);
    std::vector<double> slopes;
    for (std::size_t k = 0; k < 9; ++k) {  // x -> x + e x_b along a
      const auto strained = [&](double e) {
        Given out = given;
        for (auto* rows : {&out.cell, &out.x})
          for (std::size_t i = 0; i < rows->size(); i += 3) (*rows)[i + k / 3] += e * (*rows)[i + k % 3];
        return energy_of(stages, *engine, out);
      };
      slopes.push_back((strained(-1e-4) - strained(1e-4)) / 2e-4 / volume * constants::bar_per_ev_per_a3);
    }
    CHECK(relative_error(run.pressure[0], slopes) < 1e-5);
  }
}

TEST_CASE("a run that resumes, and one that starts from a checkpoint, keep the axes") {
  Stages stages;
  const std::string model = stages.model(2);
  const Given given = random_cell(5);
  const std::string structure = saved(stages, "start", given);
  const Written whole(stages.run("simulate", "whole", dynamics(structure, model, "steps: 8, checkpoint: {every: 4}")));
  stages.run("simulate", "half", dynamics(structure, model, "steps: 4, checkpoint: {every: 4}"));
  const Written resumed(
      stages.run("simulate", "half", dynamics(structure, model, "steps: 8, checkpoint: {every: 4}"), true));
  CHECK(relative_error(frame(whole.cell, 4, 9), given.cell) < 1e-14);
  CHECK(resumed.x == whole.x);
  CHECK(resumed.cell == whole.cell);
  CHECK(resumed.v == whole.v);
  CHECK(resumed.f == whole.f);
  CHECK(resumed.pressure == whole.pressure);
  const Written other(
      stages.run("simulate", "other", dynamics(stages.scratch.file("whole/restart.4.h5"), model, "steps: 0")));
  CHECK(relative_error(frame(other.x, 0, 81), frame(whole.x, 2, 81)) < 1e-14);
  CHECK(relative_error(frame(other.v, 0, 81), frame(whole.v, 2, 81)) < 1e-14);
  CHECK(relative_error(frame(other.cell, 0, 9), frame(whole.cell, 2, 9)) < 1e-14);
}

TEST_CASE("regions of groups lie along the axes of the file") {
  Stages stages;
  for (std::uint64_t seed = 0; seed < cells; ++seed) {
    const Given given = random_cell(seed);
    const Structure read = io::read_extxyz(saved(stages, "groups", given), 0, stages.comm);
    Particles p = particles_of(read);
    std::array<double, 3> middle{};
    for (std::size_t k = 0; k < 81; ++k) middle[k % 3] += given.x[k] / 27;
    GroupSpec slab, block, sphere;
    slab.slab = Slab{Axis::y, middle[1], 1e3, false};
    block.block = Block{{middle[0] - 1e3, middle[1] - 1e3, middle[2]}, {middle[0], middle[1] + 1e3, 1e3}, false};
    sphere.sphere = Sphere{{given.x[0], given.x[1], given.x[2]}, 1e-6, false};
    const Groups groups({{"slab", slab}, {"block", block}, {"sphere", sphere}});
    groups.assign(p, stages.comm, read.axes);
    const auto group = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.group);
    int wrong = 0;
    for (int i = 0; i < 27; ++i) {
      const double* x = &given.x[3 * static_cast<std::size_t>(i)];
      wrong += ((group(i) & groups.bit("slab")) != 0) != (x[1] >= middle[1]);
      wrong += ((group(i) & groups.bit("block")) != 0) != (x[0] < middle[0] && x[2] >= middle[2]);
      wrong += ((group(i) & groups.bit("sphere")) != 0) != (i == 0);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("labels and errors of components are in the axes of the file") {
  Stages stages;
  const std::string model = stages.model(2);
  const auto label = [&](const std::string& name, const Given& given) {
    return stages.run("label", name,
                      fmt::format("{{structure: {{file: '{}'}}, potential: {{type: deep_potential, model: '{}'}}, "
                                  "perturbed: {{frames: 2, strain: 0.04, displacement: 0}}, validation: 0}}",
                                  saved(stages, name, given), model)) +
           "/train";
  };
  const auto values = [](const std::string& folder, const char* name) {
    return io::read_npy(folder + "/set.000/" + name + ".npy").values;
  };
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Given given = random_cell(seed);
    const Turn r = rotation(seed);
    const std::string here = label("label_here", given), there = label("label_there", given.in_turn(r));
    for (const char* name : {"coord", "box", "force"})
      CHECK(relative_error(values(there, name), turned(values(here, name), r)) < 1e-11);
    const auto w = values(here, "virial"), w_there = values(there, "virial");
    for (std::size_t k = 0; k < 2; ++k)
      CHECK(relative_error(frame(w_there, k, 9), turned_tensor(frame(w, k, 9), r)) < 1e-11);
    // A strain of 4 % leaves the cell near the one that was given; in other axes it would be far off.
    CHECK(relative_error(frame(values(here, "box"), 0, 9), given.cell) < 0.2);
    // The labels hold what the model says of them again, and against labels of zero the mean error is the mean force.
    TestOptions options;
    options.model = model;
    options.systems = {here};
    CHECK(test_model(options).all.force_mae < 1e-12);
    const auto force = values(here, "force");
    double mean = 0.0;
    for (double f : force) mean += std::abs(f) / static_cast<double>(force.size());
    std::vector<double> zeros(force.size(), 0.0);
    std::fstream file(here + "/set.000/force.npy", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-static_cast<std::streamoff>(8 * zeros.size()), std::ios::end);
    file.write(reinterpret_cast<const char*>(zeros.data()), static_cast<std::streamsize>(8 * zeros.size()));
    file.close();
    CHECK(test_model(options).all.force_mae == Approx(mean).epsilon(1e-9));
  }
}
