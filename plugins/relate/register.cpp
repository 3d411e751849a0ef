// Everything that a deck can name from this plugin.
#include "core/plugin/registry.hpp"
#include "plugins/relate/datasets/clicks.hpp"
#include "plugins/relate/datasets/pairs.hpp"
#include "plugins/relate/networks/affinity.hpp"
#include "plugins/relate/networks/dlrm.hpp"
#include "plugins/relate/tasks/judge_clicks.hpp"
#include "plugins/relate/tasks/predict_affinities.hpp"

namespace cambium::relate {

void register_types(Registry& registry) {
  registry.add<Pairs>("pairs", "compounds and targets with a measured value: HDF5, text, or made up")
      .synonyms({"drug_target", "davis", "kiba", "interactions"});
  registry.add<Clicks>("clicks", "records of numbers and values of columns with a yes or no: HDF5, or made up")
      .synonyms({"criteo", "click_logs", "ctr"});
  registry.add<Affinity>("affinity", "one number of a pair, from rows of both things and of their pieces")
      .synonyms({"drug_target", "deepdta", "matrix_factorization", "binding"});
  registry.add<Dlrm>("dlrm", "a probability from numbers and rows of tables, by products of all pairs of columns")
      .synonyms({"recommendation", "ctr", "wide_and_deep", "factorization_machine"});
  registry.add<PredictAffinities>("predict_affinities", "networks for pairs beside neighbours and kernel ridge")
      .synonyms({"affinities", "predict_pairs"});
  registry.add<JudgeClicks>("judge_clicks", "networks for clicks beside logistic regression")
      .synonyms({"clicks", "predict_clicks"});
}

}  // namespace cambium::relate
