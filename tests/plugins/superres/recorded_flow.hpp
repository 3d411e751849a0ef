#pragma once
// Short simulations recorded as files, and the stage that judges reconstructions of them.
#include <fstream>
#include <map>
#include <sstream>

#include "core/plugin/registry.hpp"
#include "core/plugin/task.hpp"
#include "plugins/superres/writers/fields.hpp"
#include "tests/plugins/superres/convection_case.hpp"
#include "tests/scratch.hpp"

namespace cambium::superres {
void register_types(Registry& registry);
}

namespace cambium::superres::test {

/// A folder, and a registry with this plugin's types.
struct Workshop {
  Comm comm{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Registry registry;
  Scratch scratch;
  Context context{comm, log, timing};
  Workshop() {
    register_types(registry);
    context.registry = &registry;
    context.run_directory = scratch.folder.string();
  }

  /// Frames of a run at every `interval` of its 'sample_interval' from time `from` on; the path of the file.
  template <class C>
  std::string record(C& run, const std::string& name, double from, double to, double interval) {
    FieldsWriter::Params params;
    params.file = name;
    params.interval = interval;
    params.single = false;
    FieldsWriter writer(params, context);
    for (std::int64_t step = 1; run.time() < to - 1e-9; ++step) {
      run.advance();
      if (run.time() >= from - 1e-9) writer.observe(run.state(), step, run.time());
    }
    return scratch.file(name);
  }

  /// Rows of scores.csv by the names of their columns, in the order of the stage's methods and models.
  using Scores = std::map<std::string, std::vector<double>>;
  Scores reconstruct(const std::string& deck) {
    registry.make<Task>("reconstruct", deck::parse(deck, "test"), context)->run(context);
    std::ifstream in(scratch.file("scores.csv"));
    std::string line, word;
    std::getline(in, line);
    std::vector<std::string> names;
    for (std::stringstream head(line); std::getline(head, word, ',');) names.push_back(word.substr(0, word.find(" [")));
    Scores out;
    while (std::getline(in, line)) {
      std::stringstream row(line);
      for (const auto& name : names) std::getline(row, word, ','), out[name].push_back(std::stod(word));
    }
    return out;
  }
  std::string message(const std::string& deck) {
    try {
      reconstruct(deck);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }
};

}  // namespace cambium::superres::test
