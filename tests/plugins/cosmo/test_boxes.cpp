// Boxes of many cosmologies: spread evenly, the same on any number of ranks and when a stage goes on; fits of
// statistics.
#include <algorithm>
#include <set>

#include "plugins/cosmo/boxes/latin_hypercube.hpp"
#include "plugins/cosmo/boxes/statistics.hpp"
#include "plugins/cosmo/boxes/turns.hpp"
#include "plugins/cosmo/tasks/infer_cosmology.hpp"
#include "plugins/cosmo/tasks/structure_boxes.hpp"
#include "tests/plugins/cosmo/cosmo_case.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::cosmo;
using namespace cambium::cosmo::test;

namespace {

const std::string boxes_keys =
    "{boxes: 5, vary: {omega_m: [0.2, 0.4], sigma_8: [0.6, 1.0]}, box: 80, particles: 8, time_steps: 3}";

void make_boxes(const Comm& comm, const std::string& folder, bool resume = false,
                const std::string& keys = boxes_keys) {
  Comm own(comm.handle());
  Log log;
  Timing timing;
  Context context{own, log, timing};
  context.seed = 7;
  context.run_directory = folder;
  context.resume = resume;
  StructureBoxes stage(deck::read<StructureBoxes::Params>(deck::parse(keys, "test")), context);
  CHECK(stage.run(context) == Task::Outcome::done);
}

}  // namespace

TEST_CASE("every interval of a Latin hypercube holds one point") {
  const auto points = latin_hypercube(40, 3, 5);
  for (std::size_t d = 0; d < 3; ++d) {
    std::set<int> seen;
    for (const auto& p : points) seen.insert(static_cast<int>(40.0 * p[d]));
    CHECK(seen.size() == 40);
    CHECK(*seen.rbegin() == 39);
  }
  CHECK(points == latin_hypercube(40, 3, 5));
  CHECK(points != latin_hypercube(40, 3, 6));
}

TEST_CASE("dropout leaves out its share, and the rest makes up for it") {
  double kept = 0.0, sum = 0.0;
  for (int s = 0; s < 50; ++s)
    for (const double a : kept_answers(3, s, 7, 1, 40, 0.25)) {
      CHECK((a == 0.0 || a == Approx(1.0 / 0.75)));
      kept += a > 0.0 ? 1.0 : 0.0;
      sum += a;
    }
  CHECK(kept / 2000.0 == Approx(0.75).margin(0.04));
  CHECK(sum / 2000.0 == Approx(1.0).margin(0.06));
  CHECK(kept_answers(3, 1, 7, 1, 40, 0.25) == kept_answers(3, 1, 7, 1, 40, 0.25));
  CHECK(kept_answers(3, 1, 7, 1, 40, 0.25) != kept_answers(3, 1, 8, 1, 40, 0.25));
  CHECK(kept_answers(3, 1, 7, 1, 40, 0.25) != kept_answers(3, 1, 7, 2, 40, 0.25));
}

TEST_CASE("turns are symmetries of a cube, all of them, and a function of seed, sample and step") {
  std::set<std::array<std::int64_t, 3>> orders, moves;
  for (int s = 0; s < 400; ++s) {
    const Turn t = turn_of(1, s, 3, 4);
    auto sorted = t.axes;
    std::sort(sorted.begin(), sorted.end());
    CHECK(sorted == std::array<std::int64_t, 3>{0, 1, 2});
    orders.insert(t.axes);
    moves.insert(t.moved);
    for (const auto m : t.moved) CHECK((m >= 0 && m < 4));
  }
  CHECK(orders.size() == 6);
  CHECK(moves.size() > 60);
  CHECK(turn_of(1, 5, 3, 4).moved == turn_of(1, 5, 3, 4).moved);
}

TEST_CASE("a ridge finds a line, and its penalty hides what is only noise") {
  Table x, y;
  for (int i = 0; i < 100; ++i) {
    const double a = std::sin(1.7 * i), b = std::cos(2.9 * i);
    x.push_back({a, 100.0 + 30.0 * b, 5.0});
    y.push_back({2.0 * a - b + 3.0, b});
  }
  const Ridge fit(x, y);
  for (const double a : {-0.5, 0.8}) {
    const std::vector<double> at{a, 100.0 + 30.0 * 0.3, 5.0};
    CHECK(fit(at)[0] == Approx(2.0 * a - 0.3 + 3.0).epsilon(1e-6));
    CHECK(fit(at)[1] == Approx(0.3).epsilon(1e-6));
  }
  CHECK(mean_absolute_errors({{1.0, 2.0}, {3.0, 5.0}}, {{2.0, 2.0}, {3.0, 1.0}}) == std::vector<double>{0.5, 2.0});
  std::vector<double> counts;
  for (int k = 0; k < 20; ++k) counts.push_back(std::expm1(k % 2));
  const auto moments = moments_of(counts);
  CHECK(moments[0] == Approx(0.5));
  CHECK(moments[1] == Approx(0.5));
  CHECK(moments[2] == Approx(0.0).margin(1e-12));
  CHECK(moments[3] == Approx(-2.0));
  CHECK(moments[4] == Approx(std::log(0.5 * std::expm1(1.0))));
  const std::vector<float> few{0.0f, 1.0f, 0.0f}, of_few{0.0f, std::log(2.0f), 0.0f};  // fewer than are added at once
  CHECK(moments_of<float>(few, of_few)[0] == Approx(std::log(2.0) / 3.0).epsilon(1e-7));
  std::vector<double> box;
  for (int k = 0; k < 64; ++k) box.push_back(k);
  CHECK(halved<double>(box, 4) == std::vector<double>{10.5, 12.5, 18.5, 20.5, 42.5, 44.5, 50.5, 52.5});
}

TEST_CASE("moments at scales are those of means over cubes, as far as cubes divide a box and leave two along an edge") {
  CHECK(scales_of(32) == std::vector<std::int64_t>{1, 2, 4});
  CHECK(scales_of(6) == std::vector<std::int64_t>{1, 2});
  CHECK(scales_of(4) == std::vector<std::int64_t>{1, 2});
  CHECK(scales_of(2) == std::vector<std::int64_t>{1});
  std::vector<double> counts, means(8, 0.0);
  for (int x = 0; x < 4; ++x)
    for (int y = 0; y < 4; ++y)
      for (int z = 0; z < 4; ++z) {
        counts.push_back(std::exp(std::sin(x + 2.3 * y + 4.9 * z)));
        means[x / 2 * 4 + y / 2 * 2 + z / 2] += counts.back() / 8.0;
      }
  const auto found = moments_at_scales(counts, 4);
  const auto fine = moments_of(counts), coarse = moments_of(means);
  REQUIRE(found.size() == 10);
  for (std::size_t k = 0; k < 5; ++k) {
    CHECK(found[k] == Approx(fine[k]));
    CHECK(found[5 + k] == Approx(coarse[k]));
  }
}

TEST_CASE("boxes are the same on any number of ranks and when a stage goes on") {
  const Comm comm;
  const SharedScratch scratch(comm);
  const std::string together = scratch.file("together"), alone = scratch.file("alone");
  if (comm.root()) std::filesystem::create_directory(together), std::filesystem::create_directory(alone);
  comm.barrier();
  make_boxes(comm, together);
  if (!comm.root()) return comm.barrier();
  const Comm self(MPI_COMM_SELF);
  make_boxes(self, alone);
  const BoxFile a(together + "/boxes.h5");
  std::vector<std::vector<double>> counts;
  {
    BoxFile b(alone + "/boxes.h5", true);
    for (std::int64_t box = 0; box < 5; ++box) {
      CHECK(a.counts(box) == b.counts(box));
      counts.push_back(b.counts(box));
      double sum = 0.0;
      for (const double c : counts.back()) sum += c;
      CHECK(sum == Approx(512.0).epsilon(1e-6));
    }
    CHECK(counts[0] != counts[1]);
    CHECK(a.rows("power", 0, 5) == b.rows("power", 0, 5));
    for (const double t : a.rows("target", 0, 5)) CHECK(std::abs(t) < 1.0);
    CHECK(a.done() == 5);
    const std::vector<float> gone(512, 0.0F);
    const std::vector<double> numbers(4, 0.0);
    b.write(3, gone, {numbers.data(), 2}, numbers);
    b.set_done(3);
  }
  make_boxes(self, alone, true);
  const BoxFile again(alone + "/boxes.h5");
  CHECK(again.done() == 5);
  CHECK(again.counts(3) == counts[3]);
  CHECK(again.rows("target", 0, 5) == a.rows("target", 0, 5));
  comm.barrier();
}

TEST_CASE("what is the same in all rows of a file of cosmologies is no target") {
  const Comm comm(MPI_COMM_SELF);
  const SharedScratch scratch(comm);
  const std::string rows = scratch.file("rows.h5");
  {
    io::File file = io::File::create(rows);
    std::vector<double> numbers;
    for (int k = 0; k < 5; ++k)
      for (const double x : {0.2 + 0.04 * k, 0.05, 1.0 - 0.1 * k}) numbers.push_back(x);
    file.write("parameters", io::tensor_of(numbers.data(), {5, 3})).set_attribute("columns", "Omega_m Omega_b sigma_8");
  }
  make_boxes(comm, scratch.folder, false,
             fmt::format("{{boxes: 5, cosmologies: '{}', box: 80, particles: 8, time_steps: 3}}", rows));
  const BoxFile file(scratch.file("boxes.h5"));
  REQUIRE(file.varied().size() == 2);
  CHECK(file.varied()[1].name == "sigma_8");
  CHECK(file.rows("target", 0, 5)[0] == Approx(-1.0));
  CHECK(file.rows("target", 0, 5)[1] == Approx(1.0));
  for (const double t : file.rows("target", 0, 5)) CHECK(std::abs(t) <= 1.0 + 1e-12);
  CHECK(file.rows("parameters", 0, 5)[9] == Approx(0.6));
}

TEST_CASE("what is no target varies unseen") {
  const Comm comm(MPI_COMM_SELF);
  const SharedScratch scratch(comm);
  const std::string all = scratch.file("all"), one = scratch.file("one");
  std::filesystem::create_directory(all), std::filesystem::create_directory(one);
  const auto keys = [](const char* targets) {
    return fmt::format(
        "{{boxes: 3, vary: {{h: [0.6, 0.8], omega_m: [0.2, 0.4], sigma_8: [0.6, 1.0]}}, targets: {}, box: 80, "
        "particles: 8, time_steps: 3}}",
        targets);
  };
  make_boxes(comm, all, false, keys("[]"));
  make_boxes(comm, one, false, keys("[sigma_8, omega_m]"));
  const BoxFile whole(all + "/boxes.h5"), part(one + "/boxes.h5");
  CHECK(part.varied()[0].name == "sigma_8");
  CHECK(part.counts(2) == whole.counts(2));
  const auto a = whole.rows("target", 0, 3), b = part.rows("target", 0, 3);
  REQUIRE(b.size() == 6);
  for (std::size_t box = 0; box < 3; ++box) {
    CHECK(b[2 * box] == a[3 * box + 2]);
    CHECK(b[2 * box + 1] == a[3 * box + 1]);
  }
  CHECK_THROWS_WITH(make_boxes(comm, one, false, keys("[n_s]")),
                    "targets: 'n_s' does not vary; name some of h, omega_m, sigma_8");
  CHECK_THROWS_WITH(make_boxes(comm, one, false, keys("[h, h]")), "targets: 'h' is listed twice");
}

TEST_CASE("boxes of another file are judged by the names and intervals of the one that is trained on") {
  const Comm comm(MPI_COMM_SELF);
  const SharedScratch scratch(comm);
  const auto made = [&](const char* name, const std::string& vary, int box) {
    const std::string folder = scratch.file(name);
    std::filesystem::create_directory(folder);
    make_boxes(comm, folder, false,
               fmt::format("{{boxes: 6, vary: {{{}}}, box: {}, particles: 8, time_steps: 3}}", vary, box));
    return folder + "/boxes.h5";
  };
  const auto trained = made("trained", "omega_m: [0.2, 0.4], sigma_8: [0.6, 1.0]", 80);
  const auto judge = [&](const std::string& judged) {
    Comm own(comm.handle());
    Log log;
    Timing timing;
    Context context{own, log, timing};
    context.run_directory = scratch.folder;
    const auto keys = fmt::format("{{boxes: {}, training: [0, 6], test_boxes: {}, test: [1, 4]}}", trained, judged);
    InferCosmology stage(deck::read<InferCosmology::Params>(deck::parse(keys, "test")), context);
    const auto outcome = stage.run(context);  // outside a CHECK, which would keep what is thrown
    CHECK(outcome == Task::Outcome::done);
    return stage.lines();
  };
  const auto fresh = made("fresh", "h: [0.6, 0.8], omega_m: [0.1, 0.5], sigma_8: [0.7, 0.9]", 80);
  // The mean of the training boxes, by hand.
  const BoxFile file(trained), other(fresh);
  const auto known = file.rows("target", 0, 6), parameters = other.rows("parameters", 1, 4);
  REQUIRE(other.varied()[1].name == "omega_m");
  double mean = 0.0, error = 0.0;
  for (std::size_t r = 0; r < 6; ++r) mean += known[2 * r] / 6.0;
  for (std::size_t r = 0; r < 3; ++r) error += std::abs(mean - ((parameters[3 * r + 1] - 0.2) / 0.1 - 1.0)) / 3.0;
  CHECK(judge(fresh)[1].find(fmt::format("{:.4f}", error)) != std::string::npos);
  CHECK_THROWS_WITH(judge(made("fixed", "omega_m: [0.2, 0.4]", 80)),
                    fmt::format("test_boxes: sigma_8 does not vary in '{}', but in '{}'; make boxes in which it does",
                                scratch.file("fixed/boxes.h5"), trained));
  CHECK_THROWS_WITH(judge(made("longer", "omega_m: [0.2, 0.4], sigma_8: [0.6, 1.0]", 90)),
                    fmt::format("test_boxes: boxes of '{}' have 8 cells along an edge or another length than those of "
                                "'{}' (8 cells); make both with the same box and particles",
                                scratch.file("longer/boxes.h5"), trained));
}

// More matter of the same sigma_8 and more of sigma_8 both leave their mark on the spectrum.
TEST_CASE("the spectra of boxes follow their cosmology") {
  const Comm comm(MPI_COMM_SELF);
  const SharedScratch scratch(comm);
  make_boxes(comm, scratch.folder);
  const BoxFile file(scratch.file("boxes.h5"));
  const auto parameters = file.rows("parameters", 0, 5), power = file.rows("power", 0, 5);
  CHECK(file.varied()[0].name == "omega_m");
  double most = 0.0, least = 1e9;
  std::size_t high = 0, low = 0;
  for (std::size_t box = 0; box < 5; ++box) {
    if (parameters[2 * box + 1] > most) {
      most = parameters[2 * box + 1];
      high = box;
    }
    if (parameters[2 * box + 1] < least) {
      least = parameters[2 * box + 1];
      low = box;
    }
  }
  CHECK(power[4 * high + 1] > power[4 * low + 1]);
}
