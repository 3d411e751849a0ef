#include "core/train/low_rank/compress_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cambium::train {

void CompressKeys::FineTune::describe(deck::Describe<FineTune>& d) {
  d("steps", &FineTune::steps, "number of Adam steps").at_least(1).def(1000);
  d("batch", &FineTune::batch, "samples per step").at_least(1).def(32);
  d("learning_rate", &FineTune::learning_rate, "initial learning rate; it falls to a hundredth by half a cosine")
      .positive()
      .def(1e-3);
}

void CompressKeys::FromScratch::describe(deck::Describe<FromScratch>& d) {
  d("steps", &FromScratch::steps, "number of Adam steps; default: those of the full network and of fine_tune together")
      .at_least(1);
  d("learning_rate", &FromScratch::learning_rate, "initial learning rate; it falls to a hundredth by half a cosine")
      .positive()
      .def(3e-3);
}

static constexpr std::array baselines{"equal_shares", "equal_energy", "table", "search", "smaller", "whole"};

void CompressKeys::describe(deck::Describe<CompressKeys>& d) {
  d("model", &CompressKeys::model,
    "model file that a train stage wrote, of a network with a key `factor_ranks`: mlp, transformer, conv_net, "
    "flow_unet, meshfree_flow_net, cosmoflow, mesh_graph_net, stacked_lstm, deep_potential")
      .example("\"{run}/train/model.h5\"");
  d("dataset", &CompressKeys::dataset, "training set, and the samples whose loss selects the ranks");
  d("validation", &CompressKeys::validation, "validation set for evaluation; default: the data set");
  d("budget", &CompressKeys::budget,
    "time budget of a forward pass, as a fraction of the full network's, measured on this machine; of deep_potential: "
    "of "
    "energies and forces by the engine of simulations")
      .positive();
  d("latency", &CompressKeys::latency, "time of a pass over `batch` samples, instead of budget").unit("s").positive();
  d("multiplications", &CompressKeys::multiplications,
    "multiplications of a forward pass, as a fraction of the full network's, instead of budget: the ranks are then the "
    "same on every machine, but thin layers may be slower than their count suggests")
      .positive();
  d("samples", &CompressKeys::samples, "number of samples of each data set on which losses are compared")
      .at_least(1)
      .def(256);
  d("batch", &CompressKeys::batch, "samples of a pass whose time is measured").at_least(1).def(32);
  d("rank_multiple", &CompressKeys::multiple, "factor ranks above this are multiples of it")
      .formerly("multiple")
      .at_least(1)
      .def(8);
  d("choose", &CompressKeys::choose,
    "strategy that selects the factor ranks to train: the table of single layers, the joint search over all layers, or "
    "the better of the two before training")
      .options({{"better", Choose::better}, {"table", Choose::table}, {"search", Choose::search}})
      .def(Choose::better);
  d("search", &CompressKeys::search, "descent on the selection probabilities of ranks");
  d("fine_tune", &CompressKeys::fine_tune, "training of the low-rank network; default: none");
  d("baselines", &CompressKeys::against,
    "baselines with the same time budget, trained for the same number of steps, each in a folder of its own: "
    "equal_shares, equal_energy, table, search, smaller (a smaller network from scratch), and whole (the uncompressed "
    "network, which shows the effect of the steps alone)")
      .formerly("against")
      .def({});
  d("from_scratch", &CompressKeys::from_scratch, "training of the smaller network of `baselines`");
  d("max_loss_ratio", &CompressKeys::accept,
    "largest final loss, as a multiple of the full network's; above it the stage ends with exit code 4 and keeps its "
    "model")
      .formerly("accept")
      .positive();
  d.check([](const CompressKeys& p) -> std::string {
    for (const auto& baseline : p.against)
      if (std::find(baselines.begin(), baselines.end(), baseline) == baselines.end())
        return fmt::format(
            "baselines: '{}' is none; take of equal_shares, equal_energy, table, search, smaller and whole", baseline);
    if (!p.against.empty() && !p.fine_tune)
      return "baselines are trained on as the products are; add fine_tune, or leave baselines out";
    return p.budget.has_value() + p.latency.has_value() + p.multiplications.has_value() == 1
               ? ""
               : "give one of: budget, latency, multiplications";
  });
}

}  // namespace cambium::train
