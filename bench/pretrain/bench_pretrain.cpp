#include "bench/pretrain/bench_pretrain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "bench/pretrain/timed_loss.hpp"
#include "bench/pretrain/timed_search.hpp"
#include "bench/pretrain/timed_step.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace cambium::pretrain {

namespace {

std::vector<std::string> words_of(const BenchOptions& options, const std::string& option,
                                  const std::vector<std::string>& known) {
  std::vector<std::string> out;
  std::istringstream in(options.text(option));
  for (std::string word; std::getline(in, word, ',');) {
    if (std::find(known.begin(), known.end(), word) == known.end())
      throw InputError(fmt::format("bench pretrain: {} names '{}'; there are {}", option, word, join(known)));
    out.push_back(word);
  }
  return out;
}

int at_least(int least, const BenchOptions& options, const std::string& name) {
  const int value = options.integer(name);
  if (value >= least) return value;
  throw InputError(fmt::format("bench pretrain: {} is {}; give at least {}", name, value, least));
}

nlohmann::json measure(const BenchOptions& options, Context& context) {
  const auto parts = words_of(options, "parts", {"search", "loss", "step"});
  const auto kinds = words_of(options, "vectors", {"runs", "clouds", "uniform"});
  const auto has = [&](const char* part) { return std::find(parts.begin(), parts.end(), part) != parts.end(); };
  const int turns = at_least(1, options, "turns");
  SearchSettings search;
  search.rows = at_least(1000, options, "rows");
  search.queries = at_least(100, options, "queries");
  search.recall = options.number("recall");
  search.turns = turns;
  if (!(search.recall > 0.0 && search.recall <= 1.0))
    throw InputError(fmt::format("bench pretrain: recall is {:g}; give a share above 0, at most 1", search.recall));
  nlohmann::json out;
  std::vector<std::string> faults;
  const auto note = [&](const std::string& fault) {
    if (!fault.empty()) faults.push_back(fault);
  };
  Peers peers(options.text("script"), options.yes("peers") && context.comm.root(), out, context);
  out["ranks"] = context.comm.size();
  if (context.comm.root() && has("search"))
    for (const auto& kind : kinds) note(time_search(kind, search, peers, out, context));
  if (context.comm.root() && has("loss")) note(time_loss({at_least(2, options, "batch"), 64, turns, 3}, peers, out));
  context.comm.barrier();
  if (has("step")) note(time_step({64, turns, 10}, peers, out, context));
  const bool compared = peers.has("torch") || peers.has("faiss");
  out["check"] = !faults.empty() ? fmt::format("WRONG: {}", fmt::join(faults, "; "))
                 : compared
                     ? "ok: stated recall found again, what is found, losses and derivatives as the peers have them"
                     : "ok: stated recall found again, the loss falls; no peer";
  return out;
}

}  // namespace

Bench bench_pretrain() {
  return {"pretrain",
          "nearest rows beside memory and faiss, the contrastive loss and training steps of an encoder beside PyTorch",
          measure,
          {{"parts", "what is measured, with commas between: search, loss, step", "search,loss,step"},
           {"vectors", "that are searched, with commas between: runs, clouds, uniform", "runs,clouds,uniform"},
           {"rows", "that are searched, of 128 numbers", 1000000},
           {"queries", "half of 400 of which choose how much an index looks at, and half judge it", 1000},
           {"recall", "share of the ten nearest that an index is to find", 0.99},
           {"batch", "samples of the loss", 4096},
           {"turns", "times that all take their turn; the least counts", 3},
           {"peers", "run the peers that are there", true},
           {"script", "Python script with PyTorch and faiss", "studies/pretrain_peers.py"}},
          {"rows=20000", "vectors=runs", "batch=512", "turns=2", "peers=no"}};
}

}  // namespace cambium::pretrain
