// Files of fields on nodes, samples of steps, and linear steps fitted to them.
#include "core/base/error.hpp"
#include "plugins/graph/datasets/mesh_trajectories.hpp"
#include "plugins/graph/trajectories/linear_step.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/graph/molecules/molecule_case.hpp"
#include "tests/plugins/graph/steps/made_run.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::graph;
using namespace cambium::graph::testing;

namespace {

/// Largest difference of one step from the truth, over all moments.
double worst(const LinearStep& linear, const Trajectory& t) {
  double out = 0.0;
  for (std::size_t m = 0; m + 1 < t.value.size(); ++m) {
    const auto next = linear.step(t, t.value[m]);
    for (std::size_t k = 0; k < next.size(); ++k) out = std::max(out, std::abs(next[k] - t.value[m + 1][k]));
  }
  return out;
}

}  // namespace

TEST_CASE("a trajectory has each edge once, knows its boundary, and shares of the area that add up to one") {
  Scratch scratch;
  const auto t = made_trajectory(scratch.file("a.h5"), {});
  CHECK(t.nodes() == 36);
  CHECK(t.edge.size() / 2 == 5 * 6 * 2 + 25);
  int boundary = 0;
  for (const auto b : t.boundary) boundary += b;
  CHECK(boundary == 20);
  double sum = 0.0;
  for (const double s : t.share) sum += s;
  CHECK(sum == Approx(1.0));
  CHECK(t.moments() == 12);
  CHECK(read_trajectory(scratch.file("a.h5"), {"c"}, 3).moments() == 4);
  CHECK(read_trajectory(scratch.file("a.h5"), {"c"}, 3).value[1] == t.value[3]);
}

TEST_CASE("a stencil is exact where the law is one, on another mesh, too; modes are on theirs") {
  Scratch scratch;
  std::vector<Trajectory> training;
  for (int k = 0; k < 6; ++k)
    training.push_back(
        made_trajectory(scratch.file(std::to_string(k) + ".h5"), {.n = 4, .moments = 20, .phase = 0.9 * k}));
  // The sum over triangles is one over edges but for those of the boundary, which lie in one triangle only.
  for (auto& t : training)
    for (std::size_t m = 0; m + 1 < t.value.size(); ++m) {
      auto next = t.value[m];
      for (std::size_t e = 0; e < t.edge.size(); e += 2) {
        const double change = 0.05 * (t.value[m][t.edge[e]] - t.value[m][t.edge[e + 1]]);
        next[t.edge[e]] -= change;
        next[t.edge[e + 1]] += change;
      }
      t.value[m + 1] = next;
    }
  const StencilStep stencil(training);
  CHECK(worst(stencil, training[2]) < 1e-8);
  const ModeStep modes(training);
  CHECK(worst(modes, training[2]) < 1e-3);
  CHECK(modes.fits(training[0]));
  const auto other = made_trajectory(scratch.file("other.h5"), {.n = 5});
  CHECK(!modes.fits(other));
  auto moved = training[0];  // as many nodes
  moved.place[0] += 0.1;
  CHECK(!modes.fits(moved));
}

TEST_CASE("steps as samples: what is disturbed and what is not") {
  Scratch scratch;
  World world;
  const auto t = made_trajectory(scratch.file("a.h5"), {});
  MeshTrajectories::Params p;
  p.files = {scratch.file("a.h5")};
  p.fields = {"c"};
  MeshTrajectories plain(p, world.context);
  plain.open(world.context);
  CHECK(plain.size() == 11);
  p.noise = 0.1;
  p.draws = 3;
  MeshTrajectories noisy(p, world.context);
  noisy.open(world.context);
  CHECK(noisy.size() == 33);
  const std::vector<std::int64_t> ids{4, 15};
  const auto a = plain.read(std::span(ids).first(1))[0];
  const auto b = noisy.read(ids), again = noisy.read(ids);
  const auto values = [](const train::SamplePtr& s, const char* name) {
    const auto& x = s->fields.at(name);
    return std::vector<double>(static_cast<const double*>(x.data), static_cast<const double*>(x.data) + x.elements());
  };
  CHECK(values(a, "value") == t.value[4]);
  CHECK(values(a, "next") == t.value[5]);
  CHECK(values(b[1], "next") == t.value[5]);  // another draw of the same step
  CHECK(values(b[0], "value") != values(b[1], "value"));
  CHECK(values(b[0], "value") == values(again[0], "value"));
}

TEST_CASE("files that are no trajectories", "[messages]") {
  Scratch scratch;
  const auto changed = [&](const auto& change) {
    MadeRun run;
    run.write(scratch.file("a.h5"));
    auto file = io::File::append(scratch.file("a.h5"));
    change(file);
  };
  const auto says = [&] { return message([&] { read_trajectory(scratch.file("a.h5"), {"c"}, 1); }); };
  const std::string name = "'" + scratch.file("a.h5") + "'";
  changed([](auto& file) { file.remove("c"); });
  CHECK(says() == name + " has no array 'c'; name a file that the output node_fields wrote");
  changed([](auto& file) {
    const std::int32_t bad = 99;
    const std::int64_t at[2] = {3, 1};
    file.dataset("triangle").write_block(at, io::tensor_of(&bad, {1, 1}));
  });
  CHECK(says() == name + ": triangle 3 has the node 99; there are nodes 0 to 35");
  changed([](auto& file) {
    const double late = 4.5;
    const std::int64_t at[1] = {4};
    file.dataset("time").write_block(at, io::tensor_of(&late, {1}));
  });
  CHECK(says() ==
        name +
            ": its snapshots are not evenly spaced (t = 4.5 after 3, 1 before); give the physics a sample_interval "
            "and the output node_fields the same interval");
  changed([](auto& file) {
    const double bad = NAN;
    const std::int64_t at[2] = {2, 7};
    file.dataset("c").write_block(at, io::tensor_of(&bad, {1, 1}));
  });
  CHECK(says() == name + ": c of node 7 in snapshot 2 is not finite");
  changed([](auto&) {});
  CHECK(message([&] { read_trajectory(scratch.file("a.h5"), {"c"}, 12); }) ==
        name + " holds 12 snapshots, every 12th of which are fewer than two; give a longer run, or a smaller stride");
}
