// Networks that learn the residual of the linear forecast, and ensembles that are stored and forecast again.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/io/hdf5/h5.hpp"
#include "core/train/kinds/dataset.hpp"
#include "core/train/tune/journal.hpp"
#include "plugins/podlstm/forecast/member.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/podlstm/stage.hpp"

using namespace cambium;
using namespace cambium::podlstm;
using namespace cambium::tune;

namespace {

constexpr WindowShape eight{8, 8};

/// A year's wave with one that grows and shrinks: a linear forecast leaves a part that depends on the state.
Stretch series(std::int64_t n) {
  Stretch s{Matrix(n, 2), {}};
  for (std::int64_t t = 0; t < n; ++t) {
    const double x = static_cast<double>(t);
    s.days.push_back(7.0 * x);
    s.a(t, 0) =
        10.0 * std::cos(2.0 * M_PI * 7.0 * x / 365.2425) + std::pow(std::sin(0.09 * x), 3) + 0.4 * std::cos(0.31 * x);
    s.a(t, 1) = std::sin(0.09 * x) * std::cos(0.31 * x);
  }
  return s;
}

MemberOptions residual() {
  MemberOptions o;
  o.network = {{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, Cell::lstm, Head::dense};
  o.inputs = Inputs::residual;
  o.calendar = 1;
  o.epochs = 30;
  o.rate = 3e-3;
  return o;
}

std::vector<double> array(const std::string& file, const std::string& name) {
  return io::File::open(file).read<std::vector<double>>(name);
}

}  // namespace

TEST_CASE("an untrained residual network is the linear forecast, a trained one is better where it was fitted",
          "[ensemble]") {
  Stage stage;
  const auto s = series(160);
  const auto starts = all_starts(window_count(s, eight, "training"));
  const FitData fit{s, eight, s.times(), starts};
  Member member(residual(), 3, stage.context);
  member.start(fit);
  auto linear = harmonic_ridge(residual().linear);
  linear->fit(fit);
  const Matrix line = linear->predict(s, starts, eight), first = member.predict(s, starts, eight);
  for (std::size_t k = 0; k < line.a.size(); ++k) REQUIRE(first.a[k] == line.a[k]);
  const Matrix truth = targets(s.a, starts, eight);
  for (int epoch = 0; epoch < 30; ++epoch) member.train_epoch();
  const double before = score(truth, line, 2).r2, after = score(truth, member.predict(s, starts, eight), 2).r2;
  CHECK(1.0 - after < 0.8 * (1.0 - before));
  Member whole(residual(), 3, stage.context);
  whole.fit(fit);
  CHECK(whole.predict(s, starts, eight).a == member.predict(s, starts, eight).a);
}

TEST_CASE("a stored ensemble repeats the search's own forecast and refuses other windows", "[ensemble]") {
  Stage stage;
  const auto field = stage.file("field"), pod = stage.file("pod"), search = stage.file("search"),
             forecast = stage.file("forecast");
  auto in = [&](const std::string& folder) {
    if (stage.comm.root()) std::filesystem::create_directories(folder);
    stage.comm.barrier();
    stage.context.run_directory = folder;
  };
  in(field);
  stage.run("synthetic_field", "{weeks: 150, latitudes: 6, longitudes: 12}");
  in(pod);
  stage.run("pod", "{field: {files: [" + field + "/field.h5], array: sst, missing: land}, modes: 2, training: 100}");
  const std::string where = "data: {series: {file: " + pod + "/pod.h5}, folds: 2";
  in(search);
  stage.run("search", "{" + where +
                          "}, network: {inputs: residual, calendar: 1, epochs: 3}, trials: 3, population: 2, "
                          "sample: 1, seeds_per_trial: 2, ensemble: {members: 2, seeds: 2, plain_epochs: 2}}");
  if (stage.comm.root()) {  // whatever share validation chose
    io::File file = io::File::append(search + "/ensemble.h5");
    file.set_attribute("linear_share", 0.25);
    file.close();
  }
  in(forecast);
  stage.run("forecast", "{" + where + "}, ensemble: " + search + "/ensemble.h5}");
  CHECK(stage.message("forecast", "{" + where + ", window: 6}, ensemble: " + search + "/ensemble.h5}")
            .find("forecasts 2 modes over 8 times from 8, but the series has 2 modes, horizon is 8 and window 6") !=
        std::string::npos);
  CHECK(stage.message("forecast", "{" + where + "}, ensemble: " + pod + "/pod.h5}").find("is no ensemble") !=
        std::string::npos);
  if (!stage.comm.root()) return;
  const auto before = search + "/forecast.h5", after = forecast + "/forecast.h5",
             name = std::string("4 networks (25 % linear)");
  const auto networks = array(before, "forecast/ensemble of found networks"),
             line = array(before, "forecast/harmonics + ridge (chosen)");
  const auto apart = array(before, "spread/ensemble of found networks");
  const auto mixed = array(after, "forecast/" + name), spread = array(after, "spread/" + name);
  REQUIRE(mixed.size() == line.size());
  for (std::size_t k = 0; k < line.size(); ++k) {
    REQUIRE(mixed[k] == Approx(0.75 * networks[k] + 0.25 * line[k]).margin(1e-9));
    REQUIRE(spread[k] == Approx(0.75 * apart[k]).margin(1e-7));
  }
  CHECK(*std::max_element(spread.begin(), spread.end()) > 1e-3);
}

TEST_CASE("a search that goes on after its test years were forecast counts that they are forecast again",
          "[ensemble]") {
  Stage stage;
  const auto field = stage.file("field"), pod = stage.file("pod"), search = stage.file("search");
  auto in = [&](const std::string& folder) {
    if (stage.comm.root()) std::filesystem::create_directories(folder);
    stage.comm.barrier();
    stage.context.run_directory = folder;
  };
  in(field);
  stage.run("synthetic_field", "{weeks: 120, latitudes: 6, longitudes: 12}");
  in(pod);
  stage.run("pod", "{field: {files: [" + field + "/field.h5], array: sst, missing: land}, modes: 2, training: 80}");
  in(search);
  for (int times = 1; times <= 3; ++times) {
    stage.context.resume = times > 1;
    stage.run("search", "{data: {series: {file: " + pod +
                            "/pod.h5}}, network: {epochs: 2}, strategy: random, trials: " +
                            std::to_string(times < 3 ? 2 : 4) + ", ensemble: {members: 1, seeds: 1, plain_epochs: 2}}");
    stage.comm.barrier();
    if (!stage.comm.root()) continue;
    const io::File file = io::File::open(search + "/journal.h5");
    CHECK(file.group("selection").attribute<std::int32_t>("test_evaluations") == times);
    CHECK(file.group("selection").attribute<std::int64_t>("trials") == (times < 3 ? 2 : 4));
    const auto& said = stage.log.warnings();
    CHECK(std::ranges::count_if(said, [](const auto& w) {
            return w.text.starts_with("this search has forecast the test years ");
          }) == times - 1);
  }
  if (!stage.comm.root()) return;
  REQUIRE(!stage.log.warnings().empty());
  CHECK(stage.log.warnings().back().text ==
        "this search has forecast the test years 2 time(s) before: whatever was changed since, they test it no longer; "
        "keep other years for that");
}

TEST_CASE("a group of ranks rewards a trial with the same bits as one rank", "[ensemble]") {
  Stage stage;
  const auto field = stage.file("field"), pod = stage.file("pod");
  auto in = [&](const std::string& folder) {
    if (stage.comm.root()) std::filesystem::create_directories(folder);
    stage.comm.barrier();
    stage.context.run_directory = folder;
  };
  in(field);
  stage.run("synthetic_field", "{weeks: 150, latitudes: 6, longitudes: 12}");
  in(pod);
  stage.run("pod", "{field: {files: [" + field + "/field.h5], array: sst, missing: land}, modes: 2, training: 100}");
  std::vector<std::vector<Trial>> trials;
  for (int size : {1, stage.comm.size()}) {
    const auto folder = stage.file("search_" + std::to_string(size));
    in(folder);
    stage.run("search", "{data: {series: {file: " + pod +
                            "/pod.h5}, folds: 2}, network: {epochs: 3}, trials: 4, strategy: random, "
                            "seeds_per_trial: 2, ranks_per_trial: " +
                            std::to_string(size) + ", ensemble: {members: 1, seeds: 1, plain_epochs: 2}}");
    stage.comm.barrier();
    trials.push_back(read_trials(folder + "/journal.h5"));
    std::ranges::sort(trials.back(), {}, &Trial::number);
  }
  for (std::size_t k = 0; k < 4; ++k)
    CHECK((trials[0][k].genome == trials[1][k].genome && trials[0][k].reward == trials[1][k].reward));
}

TEST_CASE("windows as samples: scaled by the training years, neighbours share times", "[ensemble]") {
  Stage stage;
  const auto path = stage.file("series.h5");
  if (stage.comm.root()) {
    std::vector<double> a, days;
    for (int t = 0; t < 30; ++t) {
      a.push_back(t);
      a.push_back(-2.0 * t);
      days.push_back(7.0 * t);
    }
    io::File file = io::File::create(path);
    file.write("coefficients", io::tensor_of(a.data(), {30, 2}));
    file.write("time", days);
    file.close();
  }
  stage.comm.barrier();
  auto make = [&](const std::string& more) {
    auto set = stage.registry.make<train::Dataset>(
        "forecast_windows",
        deck::parse("{series: {file: " + path + ", training: 21}, window: 3, horizon: 2" + more + "}", "test"),
        stage.context);
    set->open(stage.context);
    return set;
  };
  CHECK(make("")->size() == 17);
  CHECK(make(", part: test")->size() == 5);
  const auto set = make(", range: [4, 9]");
  CHECK(set->size() == 5);
  const std::int64_t ids[] = {2};
  const auto sample = set->read(ids).front();
  const auto* window = static_cast<const float*>(sample->fields.at("window").data);
  const auto* target = static_cast<const float*>(sample->fields.at("target").data);
  for (int t = 0; t < 3; ++t) {
    CHECK(window[2 * t] == Approx((6.0 + t) / 20.0));  // 0 to 20 in the training years
    CHECK(window[2 * t + 1] == Approx(1.0 - (6.0 + t) / 20.0));
  }
  CHECK(target[2] == Approx(10.0 / 20.0));
  const auto* coefficients = static_cast<const double*>(sample->fields.at("coefficients").data);
  for (int t = 0; t < 3; ++t) {
    CHECK(coefficients[2 * t] == 6.0 + t);
    CHECK(coefficients[2 * t + 1] == -2.0 * (6.0 + t));
  }
  CHECK_THROWS_WITH(make(", range: [4, 18]"),
                    "range: [4, 18] of 17 windows holds none or reaches beyond them; give 0 <= first < last <= 17");
}

TEST_CASE("a network whose loss is no number says in which epoch", "[ensemble]") {
  Stage stage;
  const auto s = series(60);
  MemberOptions options = residual();
  options.rate = 1e200;  // no weight is finite after a step
  Member member(options, 3, stage.context);
  const FitData fit{s, eight, s.times(), all_starts(window_count(s, eight, "training"))};
  member.start(fit);
  member.train_epoch();
  CHECK_THROWS_WITH(member.train_epoch(), "the loss of a network is not finite in epoch 2");
}
