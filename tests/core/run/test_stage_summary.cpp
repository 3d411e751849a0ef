// The summary of a stage, which core/run writes whatever the task is, and the deck whose list of plugins is short.
#include "core/run/summary/stage_summary.hpp"

#include <dlfcn.h>

#include <cmath>
#include <fstream>
#include <regex>
#include <sstream>

#include "core/base/platform.hpp"
#include "core/plugin/registry.hpp"
#include "core/run/run.hpp"
#include "core/run/summary/banner.hpp"
#include "core/run/summary/stage_results.hpp"
#include "tests/catch.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;

namespace {

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Times and memory, which vary, as words; without what is said of the BLAS, which is the machine's.
std::string steady(std::string text) {
  text = std::regex_replace(text, std::regex("warning[^:\n]*: OpenBLAS uses[^\n]*\n"), "");
  text = std::regex_replace(text, std::regex("Stage [0-9.]+ s"), "Stage T s");
  text = std::regex_replace(text, std::regex("[0-9.e+]+ [kM]?sheets/s"), "R sheets/s");
  return std::regex_replace(text, std::regex("rank: [0-9.]+ MiB \\(largest [0-9.]+\\)"), "rank: M MiB (largest M)");
}

/// A stage that says everything a stage can say; `silent` says nothing.
class Press : public Task {
 public:
  struct Params {
    bool silent = false;
    static void describe(deck::Describe<Params>& d) { d("silent", &Params::silent, "says nothing").def(false); }
  };
  Press(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override {}
  Outcome run(Context& context) override {
    context.log.info("prints");
    for (int k = 0; k < 2 && !params_.silent; ++k) context.log.warn("the ink is low");
    if (context.comm.root() && !params_.silent)
      for (const char* name : {"a.csv", "b.h5", "b.7.txt"})
        std::ofstream(std::filesystem::path(context.run_directory) / name) << name;
    return Outcome::done;
  }
  Work work() const override { return params_.silent ? Work{} : Work{3, "sheet"}; }
  std::vector<Result> results() const override {
    if (params_.silent) return {};
    return {{"margin", "page: margin", 0.1 + 0.2, "mm", 0.05, "by ruler"},
            {"bound", "page: bound", 2.0},
            {"ink", "ink", 1e-3, "l"},
            in_table("ink", "ink of the second sheet", std::nan(""))};
  }
  std::vector<std::string> lines() const override { return {params_.silent ? "nothing" : "no sheet was lost"}; }
  std::vector<std::string> files() const override {
    return params_.silent ? std::vector<std::string>{}
                          : std::vector<std::string>{"a.csv (a table)", "b.h5", "b.<step>.txt", "none.h5"};
  }
  std::vector<Citation> citations() const override {
    if (params_.silent) return {};
    return {{"gutenberg1455", "@book{gutenberg1455}"}, {"caxton1476", "@book{caxton1476}"}, {"gutenberg1455", ""}};
  }

 private:
  Params params_;
};

struct World {
  Comm comm;
  Log log;
  Timing timing;
  Registry registry;
  SharedScratch scratch{comm};
  Context context{comm, log, timing};

  World() : log(nullptr, comm.root()) {
    context.registry = &registry;
    registry.set_plugin("printing");
    registry.add<Press>("press", "prints sheets");
    registry.set_plugin("binding");
    registry.add<Press>("sew", "sews sheets");
  }
  ReadDeck deck(const std::string& text) {
    const std::string path = scratch.file("deck.yaml");
    if (comm.root()) std::ofstream(path) << text;
    comm.barrier();
    return read_deck(path, {}, registry, context);
  }
  /// What is warned of when a deck has this list.
  std::vector<std::string> warnings(const std::string& list, const std::string& stages) {
    deck("run: {name: a, directory: runs}\n" + list + "stages: " + stages + "\n");
    std::vector<std::string> out;
    for (const auto& warning : log.warnings()) out.push_back(warning.text);
    return out;
  }
};

}  // namespace

TEST_CASE("every stage ends with the same page, its warnings and its cite.bib") {
  World w;
  const std::string place = w.scratch.file("run");
  const auto read = w.deck("run: {name: a, directory: " + place +
                           "}\nplugins: [printing]\nstages: [press: {}, press: {silent: true}]\n");
  CHECK(run_stages(read, {}, w.context) == ExitCode::done);
  w.comm.barrier();
  const std::string log = steady(text_of(place + "/log.txt"));
  const std::string ranks = std::to_string(w.comm.size()) + (w.comm.size() == 1 ? " rank" : " ranks");
  const auto at = [&](const std::string& folder) { return log.find("-> " + place + "/" + folder + "\n"); };
  REQUIRE(at("press_2") != std::string::npos);
  CHECK(log.substr(at("press"), log.find("\n\n--- stage 2") - at("press")) ==
        "-> " + place + "/press\nprints\nwarning: the ink is low\n\nStage T s, " + ranks +
            ", 3 sheets\nR sheets/s\npeak memory per rank: M MiB (largest M)\npage: margin = 0.3 +- 0.05 mm (by "
            "ruler), bound = 2\nink = 0.001 l\nno sheet "
            "was lost\nwritten in " +
            place + "/press: a.csv (a table), b.h5, b.<step>.txt\nwarning (2 times): the ink is low\ncite: " + place +
            "/press/cite.bib (2 works)");
  CHECK(text_of(place + "/press/cite.bib") == "@book{gutenberg1455}\n\n@book{caxton1476}\n\n");
  CHECK(log.substr(at("press_2")) == "-> " + place + "/press_2\nprints\n\nStage T s, " + ranks +
                                         "\npeak memory per rank: M MiB (largest M)\nnothing\nwarning (2 times): the "
                                         "ink is low\n");
  CHECK_FALSE(std::filesystem::exists(place + "/press_2/cite.bib"));
  const auto found = stage_results_in(place + "/press");
  REQUIRE((found && found->results.size() == 4));
  CHECK(found->results[0].value == 0.1 + 0.2);  // every digit
  CHECK(found->results[0].uncertainty == 0.05);
  CHECK(found->results[0].remark == "by ruler");
  CHECK(found->results[2].label == "ink");
  CHECK(found->results[3].key == "ink_2");  // a key stands once
  CHECK(std::isnan(found->results[3].value));
  CHECK((found->ranks == w.comm.size() && found->items == 3 && found->item == "sheet" && !found->steps));
  CHECK((found->seconds >= 0.0 && found->memory > 0.0));
  CHECK(found->files == std::vector<std::string>{"a.csv", "b.h5", "b.*.txt"});
  CHECK(found->warnings.back().count == 2);
  CHECK(found->summary.back() == "no sheet was lost");
  CHECK(stage_results_in(place + "/press_2")->results.empty());
  CHECK_FALSE(stage_results_in(place));
}

TEST_CASE("results are said by their labels") {
  const std::vector<Result> results{
      {"gamma", "growth of the field: gamma", -0.153},
      {"omega", "growth of the field: omega", 1.41, "", {}, "17 peaks"},
      {"top", "Nusselt number: at the top", 4.0},
      {.key = "force", .label = "largest force", .value = 1.0 / 3.0, .unit = "eV/A", .digits = 3}};
  CHECK(result_lines(results) ==
        std::vector<std::string>{"growth of the field: gamma = -0.153, omega = 1.41 (17 peaks)",
                                 "Nusselt number: at the top 4", "largest force: 0.333 eV/A"});
  CHECK(key_of("GCN (train_2)") == "gcn_train_2");
  CHECK(key_of("2nd") == "x_2nd");
}

TEST_CASE("a damaged results.json is refused") {
  CHECK_THROWS_WITH(
      stage_results_of("{\"version\": 1}", "a/results.json"),
      Catch::Contains("'a/results.json' is damaged or was changed") && Catch::Contains("run its stage again"));
  CHECK_THROWS_WITH(stage_results_of("{\"version\": 2}", "a/results.json"),
                    "'a/results.json' is of version 2, and this program reads up to 1; use the one that wrote it");
  CHECK_THROWS_WITH(
      stage_results_of("{\"version\": 1", "a/results.json"),
      Catch::StartsWith("'a/results.json' is damaged or was changed (") && Catch::EndsWith("); run its stage again"));
}

TEST_CASE("threads of the BLAS are warned of where they are more than the rank's own") {
  CHECK(too_many_blas_threads(2, false, 1, 2));
  CHECK(too_many_blas_threads(2, false, 2, 2));  // beside the threads of kernels
  CHECK(too_many_blas_threads(2, true, 1, 2));
  CHECK_FALSE(too_many_blas_threads(2, true, 2, 2));  // the same threads
  CHECK(too_many_blas_threads(3, true, 2, 2));
  CHECK_FALSE(too_many_blas_threads(1, false, 1, 2));
  CHECK_FALSE(too_many_blas_threads(8, false, 1, 1));
}

TEST_CASE("OPENBLAS_NUM_THREADS alone counts for a BLAS on OpenMP, which does not read it") {
  const auto of_openmp = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
  if (!blas_info().on_openmp || !of_openmp) return;
  const auto set = [](const char* name, const std::string& value) { setenv(name, value.c_str(), 1); };
  set("OPENBLAS_CORETYPE", blas_info().core);  // nothing for which the program would be started again
  const int before = blas_info().threads;
  for (const int threads : {3, 1, before}) {
    unsetenv("OMP_NUM_THREADS");
    set("OPENBLAS_NUM_THREADS", std::to_string(threads));
    apply_platform_settings(nullptr);
    CHECK(blas_info().threads == threads);
    CHECK(of_openmp() == threads);  // by which it goes at each call
  }
  set("OMP_NUM_THREADS", std::to_string(before));
  set("OPENBLAS_NUM_THREADS", "5");
  apply_platform_settings(nullptr);
  CHECK(blas_info().threads == before);
}

TEST_CASE("a deck that does not name the plugin of one of its types is told to") {
  using Words = std::vector<std::string>;
  CHECK(World().warnings("plugins: [printing]\n", "[press: {}]").empty());
  CHECK(World().warnings("plugins: [printing]\n", "[press: {}, sew: {}]") ==
        Words{"this deck uses task 'sew' of plugin 'binding': add binding to its list, plugins: [binding, printing]"});
  CHECK(World().warnings("", "[press: {}, sew: {}, press: {}]") ==
        Words{"this deck uses task 'press' of plugin 'printing' and task 'sew' of plugin 'binding': add printing, "
              "binding to its list, plugins: [printing, binding]"});
}
