// Registers everything that a deck can name from this plugin.
#include "core/plugin/registry.hpp"
#include "plugins/relate/datasets/clicks.hpp"
#include "plugins/relate/datasets/interactions.hpp"
#include "plugins/relate/datasets/pairs.hpp"
#include "plugins/relate/networks/affinity.hpp"
#include "plugins/relate/networks/cosine_factorization.hpp"
#include "plugins/relate/networks/dlrm.hpp"
#include "plugins/relate/networks/factorization_machine.hpp"
#include "plugins/relate/tasks/choose_row_bounds.hpp"
#include "plugins/relate/tasks/evaluate_clicks.hpp"
#include "plugins/relate/tasks/predict_affinities.hpp"
#include "plugins/relate/tasks/recommend.hpp"

namespace cambium::relate {

void register_types(Registry& registry) {
  registry.add<Pairs>("pairs", "compounds and targets with a measured value: HDF5, text, or synthetic")
      .synonyms({"drug_target", "davis", "kiba"});
  registry.add<InteractionSet>("interactions", "user-item interactions with negative samples: HDF5, or synthetic")
      .synonyms({"implicit_feedback", "user_item", "ratings"});
  registry
      .add<Clicks>("clicks",
                   "records of dense and categorical features with a click label: CSV, TSV, HDF5, or synthetic")
      .synonyms({"criteo", "avazu", "click_logs", "ctr"});
  registry
      .add<Affinity>("affinity", "one value of a pair (affinity), from embedding rows of both and of their fragments")
      .synonyms({"drug_target", "deepdta", "binding"});
  registry.add<Dlrm>("dlrm", "a probability from dense features and embeddings, by products of all pairs of columns")
      .synonyms({"recommendation", "ctr", "wide_and_deep"});
  registry
      .add<FactorizationMachine>(
          "factorization_machine",
          "one value of a record: a bias, weights of features, products of the embeddings of all pairs of them")
      .synonyms({"fm", "matrix_factorization", "svd"});
  registry
      .add<CosineFactorization>("cosine_factorization",
                                "the cosine of embeddings of a user and an item, learned from interactions alone")
      .synonyms({"simplex", "heat", "contrastive_factors", "two_tower", "bpr"});
  registry
      .add<PredictAffinities>("predict_affinities",
                              "evaluation of networks for pairs, compared with neighbours and kernel ridge")
      .synonyms({"affinities", "predict_pairs"});
  registry
      .add<EvaluateClicks>("evaluate_clicks", "evaluation of networks for clicks, compared with logistic regression")
      .synonyms({"clicks", "predict_clicks"});
  registry
      .add<ChooseRowBounds>("choose_row_bounds",
                            "error bounds of embedding tables in messages, one for each, from held-out AUC")
      .synonyms({"table_bounds", "embedding_bounds"});
  registry
      .add<Recommend>("recommend",
                      "recommendation by networks, compared with popularity, cosines and logistic regression")
      .synonyms({"rank_items", "top_k"});
  registry.renamed<train::Dataset>("choices", "interactions");
  registry.renamed<train::Network>("factors", "factorization_machine");
  registry.renamed<train::Network>("cosine_factors", "cosine_factorization");
  registry.renamed<Task>("judge_clicks", "evaluate_clicks");
}

}  // namespace cambium::relate
