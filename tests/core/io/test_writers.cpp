#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "core/run/trajectory_writers.hpp"
#include "tests/catch.hpp"
#include "tests/sample_particles.hpp"
#include "tests/scratch.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;

namespace {

struct World {
  Comm comm;
  Log log;
  Timing timing;
  SharedScratch scratch{comm};
  Context context{comm, log, timing};
  World() { context.run_directory = scratch.folder; }
};

std::string content(const std::string& name) {
  std::ifstream in(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <class W>
void observe(W& writer, const Comm& comm, std::int64_t step, bool triclinic = true) {
  const State state = sample_state(comm, step, triclinic);
  writer.observe(state, state.step, state.time);
}

const std::string root = "/particles/trajectory/";

}  // namespace

TEST_CASE("an H5MD trajectory holds every frame in the order of ids, whatever the ranks") {
  World w;
  for (bool triclinic : {false, true}) {
    H5mdWriter::Params params;
    params.velocities = params.forces = true;
    {
      H5mdWriter writer(params, w.context);
      for (std::int64_t step : {0, 100, 200}) observe(writer, w.comm, step, triclinic);
    }
    if (!w.comm.root()) continue;
    const auto file = io::File::open(w.scratch.file("trajectory.h5md"));
    CHECK(file.group("/h5md").attribute<std::vector<int>>("version") == std::vector<int>{1, 1});
    CHECK(file.read<std::vector<std::int64_t>>(root + "position/step") == std::vector<std::int64_t>{0, 100, 200});
    CHECK(file.read<std::vector<std::int64_t>>(root + "force/step") == std::vector<std::int64_t>{0, 100, 200});
    const auto x = file.read<std::vector<double>>(root + "position/value"),
               v = file.read<std::vector<double>>(root + "velocity/value"),
               f = file.read<std::vector<double>>(root + "force/value");
    const auto image = file.read<std::vector<int>>(root + "image/value");
    const auto id = file.read<std::vector<std::int64_t>>(root + "id");
    REQUIRE(x.size() == 3 * sample_size * 3);
    const Box box = sample_box(triclinic);
    int n = 0;
    for (std::int64_t step : {0, 100, 200})
      for (int i = 0; i < sample_size; ++i) {
        CHECK(id[i] == i + 1);
        const auto p = sample_particle(box, i + 1, step);
        double s[3], corner[3];
        for (int k = 0; k < 3; ++k) corner[k] = x[n + k] + box.origin[k];
        box.to_fractional(corner, s);
        for (int k = 0; k < 3; ++k, ++n) {
          CHECK((s[k] >= 0.0 && s[k] <= 1.0));
          double here = x[n] + box.origin[k], there = p.x[k];
          for (int r = 0; r < 3; ++r) {
            here += image[n - k + r] * box.h[r][k];
            there += p.image[r] * box.h[r][k];
          }
          CHECK(here == Approx(there).margin(1e-12));  // the unwrapped place is the same
          CHECK(v[n] == p.v[k]);
          CHECK(f[n] == Approx(p.f[k] * 96.48533212331));
        }
      }
    const auto edges = file.dataset(root + "box/edges/value");
    CHECK(edges.shape() == std::vector<std::int64_t>{3, 3, 3});
    CHECK(file.read<std::vector<double>>(root + "mass")[0] == 15.999);
  }
}

TEST_CASE("a resumed H5MD trajectory drops later frames and goes on") {
  World w;
  H5mdWriter::Params params;
  params.precision = Precision::float32;
  {
    H5mdWriter writer(params, w.context);
    for (std::int64_t step : {0, 100, 200, 300}) observe(writer, w.comm, step);
  }
  {
    H5mdWriter writer(params, w.context);
    writer.resume(150);
    observe(writer, w.comm, 200);
  }
  if (w.comm.root()) {
    const auto file = io::File::open(w.scratch.file("trajectory.h5md"));
    CHECK(file.read<std::vector<std::int64_t>>(root + "image/step") == std::vector<std::int64_t>{0, 100, 200});
    CHECK(file.dataset(root + "position/value").dtype() == DType::f32);
    CHECK(file.dataset(root + "position/value").shape() == std::vector<std::int64_t>{3, sample_size, 3});
  }
  H5mdWriter::Params more = params;
  more.forces = true;
  const std::string name = w.scratch.file("trajectory.h5md");
  CHECK(
      message([&] { H5mdWriter(more, w.context).resume(100); }) ==
      "'" + name +
          "' has no series 'force' and cannot be continued: resume with the deck that wrote it, or move the file away");
}

TEST_CASE("a trajectory broken by a killed program is put aside") {
  World w;
  const std::string name = w.scratch.file("trajectory.h5md");
  if (w.comm.root()) std::ofstream(name) << "half";
  H5mdWriter writer(H5mdWriter::Params{}, w.context);
  writer.resume(100);
  observe(writer, w.comm, 200);
  if (!w.comm.root()) return;
  CHECK(content(name + ".broken") == "half");
  CHECK(w.log.warnings().size() == 1);
}

TEST_CASE("an extended XYZ trajectory is the same text on any number of ranks") {
  World w;
  ExtxyzWriter::Params params;
  params.velocities = params.forces = true;
  {
    ExtxyzWriter writer(params, w.context);
    for (std::int64_t step : {0, 100}) observe(writer, w.comm, step);
  }
  if (!w.comm.root()) return;
  MPI_Comm self;
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  {
    const Comm alone(self);
    std::string expected;
    for (std::int64_t step : {0, 100})
      expected += io::extxyz_text(io::gather_frame(sample_state(alone, step, true), alone, {true, true}));
    CHECK(content(w.scratch.file("trajectory.extxyz")) == expected);
    CHECK(expected.starts_with(
        "23\nLattice=\"8 0 0 1.5 9 0 -0.75 0.5 10\" Origin=\"-1 0 2\" "
        "Properties=species:S:1:pos:R:3:velo:R:3:forces:R:3:momenta:R:3 Step=0 Time=0 pbc=\"T T T\"\nO "));
  }
  MPI_Comm_free(&self);
}

TEST_CASE("a frame in shares holds each particle once, and writes the same text") {
  World w;
  const std::string name = w.scratch.file("shared.extxyz");
  const State state = sample_state(w.comm, 100, true);
  const io::Frame whole = io::gather_frame(state, w.comm, {true, true});
  for (std::int64_t rows : {1, 8, 1000}) {
    const auto share = io::share_frame(state, w.comm, {true, true}, rows);
    CHECK(share.total == sample_size);
    CHECK(share.shares == std::clamp<std::int64_t>(sample_size / rows, 1, w.comm.size()));
    CHECK(w.comm.sum(share.frame.size()) == sample_size);
    if (share.shares > 1) CHECK(w.comm.max(static_cast<int>(share.frame.size())) <= sample_size / share.shares + 1);
    if (w.comm.root()) std::ofstream(name) << "before\n";
    w.comm.barrier();
    io::append_extxyz(name, share, w.comm);
    w.comm.barrier();
    if (w.comm.root()) CHECK(content(name) == "before\n" + io::extxyz_text(whole));
    w.comm.barrier();
  }
}

TEST_CASE("a resumed extended XYZ trajectory drops later and half-written frames") {
  World w;
  const std::string name = w.scratch.file("trajectory.extxyz");
  std::string two;
  {
    ExtxyzWriter writer(ExtxyzWriter::Params{}, w.context);
    for (std::int64_t step : {0, 100}) observe(writer, w.comm, step);
    w.comm.barrier();
    two = content(name);
    observe(writer, w.comm, 200);
  }
  w.comm.barrier();
  if (w.comm.root())
    std::ofstream(name, std::ios::app) << "23\nLattice=\"8 0 0 0 8 0 0 0 8\" Step=150 pbc=\"T T T\"\nCu 0 0";
  ExtxyzWriter writer(ExtxyzWriter::Params{}, w.context);
  writer.resume(1000);
  w.comm.barrier();
  const std::string three = content(name);
  w.comm.barrier();
  CHECK(three.starts_with(two));
  CHECK(three.find("Step=150") == std::string::npos);
  ExtxyzWriter again(ExtxyzWriter::Params{}, w.context);
  again.resume(100);
  w.comm.barrier();
  CHECK(content(name) == two);
  w.comm.barrier();
}

TEST_CASE("a frame that does not fit the disk is reported on every rank") {
  World w;
  const FullDisk disk(1500);
  ExtxyzWriter text(ExtxyzWriter::Params{}, w.context);
  CHECK(message([&] {
          for (std::int64_t step = 0; step < 500; step += 100) observe(text, w.comm, step);
        }) == "cannot write '" + w.scratch.file("trajectory.extxyz") +
                  "': File too large; raise the limit that this shell or job sets for the size of a file (ulimit -f), "
                  "then resume");
  H5mdWriter binary(H5mdWriter::Params{}, w.context);
  CHECK(message([&] { observe(binary, w.comm, 0); }) == "cannot write '" + w.scratch.file("trajectory.h5md") +
                                                            "': File too large; raise the limit that this shell or job "
                                                            "sets for the size of a file (ulimit -f), then resume");
}
