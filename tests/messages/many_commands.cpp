// The program's command line many times in one process: one JSON array of words per line of standard input, such as
// ["check", "deck.yaml"], or one such array as the argument (mpirun gives its input to one rank only). After what each
// said on standard error follows a line with U+001E and the exit code.
#include <mpi.h>

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/cambium/command_line/cli.hpp"
#include "core/parallel/kokkos.hpp"
#include "core/parallel/start_mpi.hpp"
#include "plugins/plugin_list.hpp"
#include "tests/messages/odd_dataset.hpp"

static int command(const std::string& line) {
  auto words = nlohmann::json::parse(line).get<std::vector<std::string>>();
  words.insert(words.begin(), "cambium");
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return cambium::command_line(static_cast<int>(words.size()), pointers.data(), [](cambium::Registry& registry) {
    cambium::register_everything(registry);
    registry.add<cambium::OddDataset>("odd", "empty, or of uneven samples");
  });
}

static void answer(const std::string& line) {
  const int code = command(line);
  std::fprintf(stderr, "\n\x1e%d\n", code);
  std::fflush(stderr);
}

int main(int argc, char** argv) {
  cambium::start_mpi(&argc, &argv);
  {
    int none = 1;
    Kokkos::ScopeGuard kokkos(none, argv);
    if (argc > 1)
      answer(argv[1]);
    else
      for (std::string line; std::getline(std::cin, line);) answer(line);
  }
  MPI_Finalize();
  return 0;
}
