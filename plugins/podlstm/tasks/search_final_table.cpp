// From trials to an ensemble: all choices are made by validation and recorded before the test years are evaluated.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"
#include "plugins/podlstm/forecast/ensemble.hpp"
#include "plugins/podlstm/tasks/forecast.hpp"
#include "plugins/podlstm/tasks/search.hpp"

namespace cambium::podlstm {

namespace {

struct Chosen {
  std::vector<Genome> genomes;
  std::vector<std::int32_t> epochs;
  std::vector<std::int64_t> numbers;
  double r2 = 0.0, share = 0.0, mixed_r2 = 0.0;  ///< validation; weight of the linear forecast
};

/// The best trials with different networks, broadcast from rank 0.
Chosen choose(const Journal* journal, const SearchSpace& space, std::int64_t members, const Comm& comm) {
  Chosen out;
  std::vector<double> message;
  if (journal) {
    std::vector<const Trial*> sorted;
    for (const auto& t : journal->trials())
      if (!t.failed) sorted.push_back(&t);
    std::stable_sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->reward > b->reward; });
    std::set<std::string> seen;
    for (auto* t : sorted) {
      if (std::ssize(seen) == members || !seen.insert(space.canonical(t->genome)).second) continue;
      message.push_back(static_cast<double>(t->number));
      message.push_back(t->best_epoch);
      message.insert(message.end(), t->genome.begin(), t->genome.end());
    }
  }
  const auto length = static_cast<std::int64_t>(comm.max(static_cast<double>(message.size())));
  message.resize(length);
  comm.broadcast(std::span<double>(message));
  const std::size_t row = space.choices.size() + 2;
  for (std::size_t k = 0; k < message.size(); k += row) {
    out.numbers.push_back(static_cast<std::int64_t>(message[k]));
    out.epochs.push_back(static_cast<std::int32_t>(message[k + 1]));
    Genome g;
    for (std::size_t d = 2; d < row; ++d) g.push_back(static_cast<int>(message[k + d]));
    out.genomes.push_back(std::move(g));
  }
  return out;
}

/// Weighted mean: (1 - share) network + share linear.
Matrix mix(const Matrix& network, const Matrix& linear, double share) {
  Matrix out = network;
  for (std::size_t i = 0; i < out.a.size(); ++i) out.a[i] = (1.0 - share) * network.a[i] + share * linear.a[i];
  return out;
}

/// The weight of the linear forecast with the best validation score, on a grid of 0.05.
double best_share(const Matrix& truth, const Matrix& network, const Matrix& linear, std::int64_t modes, double& r2) {
  double best = 0.0;
  r2 = -1e300;
  for (int k = 0; k <= 20; ++k)
    if (const double x = score(truth, mix(network, linear, 0.05 * k), modes).r2; x > r2) r2 = x, best = 0.05 * k;
  return best;
}

/// Windows to be forecast by networks fitted to others.
struct Piece {
  FitData fit;
  const Stretch& on;
  std::vector<std::int64_t> starts;
};

class FinalTable {
 public:
  FinalTable(const SearchTask::Params& p, const Series& s, Journal* journal, std::vector<Result>& results, Context& c)
      : p_(p), series_(s), journal_(journal), results_(results), context_(c), evaluator_(p, s, c, c.comm),
        shape_(p.data.shape()), all_(all_starts(window_count(s.train, shape_, "training"))),
        test_(all_starts(window_count(s.test, shape_, "test"))) {}

  std::vector<TableRow> make() {
    const auto space = paper_space(static_cast<int>(series_.modes()) + 2 * p_.network.calendar);
    found_ = choose(journal_, space, p_.ensemble.members, context_.comm);
    if (found_.genomes.empty())
      throw NumericalError(
          fmt::format("all {} trials failed, so there is no network to forecast with; lower network.rate ({:g})",
                      p_.trials, p_.network.rate));
    plain_ = choose_plain();
    Selection selection = select();
    io::on_root(context_.comm, [&] { journal_->select(selection); });
    context_.log.info(
        fmt::format("chosen by validation and recorded: {} networks x {} seeds, {:.0f} % harmonics + ridge, R2 {:.4f}",
                    found_.genomes.size(), p_.ensemble.seeds, 100.0 * selection.linear_share, selection.validation));
    const auto linear = choose_linear_methods(p_.data, series_, context_);
    count_test_evaluation(selection);
    std::vector<TableRow> rows = baseline_rows(p_.data, series_, linear, context_);
    forecast_test(rows, selection);
    selection.test = rows.back().test.r2;
    io::on_root(context_.comm, [&] { journal_->select(selection); });
    return rows;
  }

 private:
  /// Weights of the linear forecast by validation, for the selected networks and for the head only.
  Selection select() {
    std::vector<Piece> left_out;
    for (const auto& split : evaluator_.splits())
      left_out.push_back({{series_.train, shape_, split}, series_.train, split.validation});
    const Matrix truth = targets(series_.train.a, validation_windows(evaluator_.splits()), shape_);
    const auto linear = linear_forecast();
    const Matrix line = forecast_left_out(*linear, series_.train, evaluator_.splits(), shape_);
    const Matrix networks = mean_forecast(found_, left_out).mean, plains = mean_forecast(plain_, left_out).mean;
    found_.r2 = score(truth, networks, series_.modes()).r2;
    plain_.r2 = score(truth, plains, series_.modes()).r2;
    line_r2_ = score(truth, line, series_.modes()).r2;
    found_.share = best_share(truth, networks, line, series_.modes(), found_.mixed_r2);
    plain_.share = best_share(truth, plains, line, series_.modes(), plain_.mixed_r2);
    return {found_.numbers,
            found_.epochs,
            found_.share,
            found_.mixed_r2,
            journal_ ? std::ssize(journal_->trials()) : 0,
            journal_ && journal_->selection() ? journal_->selection()->test_evaluations : 0,
            0.0};
  }

  /// Recorded before the test years are evaluated, so that a run killed during the evaluation counts, too. Only rank 0
  /// knows of earlier runs.
  void count_test_evaluation(Selection& selection) {
    io::on_root(context_.comm, [&] {
      if (const auto before = selection.test_evaluations++; before > 0)
        context_.log.warn(
            fmt::format("this search has forecast the test years {} time(s) before: whatever was changed since, they "
                        "test it no longer; keep other years for that",
                        before));
      journal_->select(selection);
    });
  }

  /// Harmonics + ridge with the penalty used for the networks' residuals.
  std::unique_ptr<Forecaster> linear_forecast() const { return harmonic_ridge(p_.linear); }

  void forecast_test(std::vector<TableRow>& rows, const Selection& selection) {
    const std::vector<Piece> tests = {{{series_.train, shape_, series_.train.times(), all_}, series_.test, test_}};
    auto linear = linear_forecast();
    linear->fit(tests.front().fit);
    const Matrix line = linear->predict(series_.test, test_, shape_);
    if (p_.network.inputs == Inputs::residual) rows.push_back(row("harmonics + ridge (chosen)", line, line_r2_));
    const auto plain = mean_forecast(plain_, tests), found = mean_forecast(found_, tests);
    rows.push_back(row("ensemble without recurrence", plain.mean, plain_.r2));
    rows.push_back(row(fmt::format("  without recurrence ({:.0f} % linear)", 100.0 * plain_.share),
                       mix(plain.mean, line, plain_.share), plain_.mixed_r2));
    rows.push_back(row("ensemble of found networks", found.mean, found_.r2));
    rows.back().spread = found.deviation;
    rows.push_back(row(fmt::format("  found networks ({:.0f} % linear)", 100.0 * found_.share),
                       mix(found.mean, line, found_.share), found_.mixed_r2));
    rows.back().spread = found.deviation;
    for (double& x : rows.back().spread.a) x *= 1.0 - found_.share;
    report_seeds(found.first);
    store(selection, *linear, found.weights);
  }

  /// The head without recurrent layers, trained for the number of epochs with the best validation score.
  Chosen choose_plain() {
    SearchTask::Params p = p_;
    p.network.epochs = p.ensemble.plain_epochs;
    p.network.patience = p.ensemble.plain_epochs;
    p.time_limit = 0.0;
    const WindowEvaluator evaluate(p, series_, context_, context_.comm);
    const Genome none(paper_space(1).choices.size(), 0);
    Chosen out;
    out.genomes = {none};
    out.epochs = {evaluate({0, 1, none, {}}, [] {}).best_epoch};
    out.numbers = {-1};
    return out;
  }

  struct Forecasts {
    Matrix mean, deviation;                   ///< over networks and seeds
    std::vector<double> first;                ///< R2 of the first network by seed
    std::vector<std::vector<float>> weights;  ///< networks of the last piece on this rank
  };

  /// Concatenated forecasts of all pieces; networks and seeds are distributed over ranks.
  Forecasts mean_forecast(const Chosen& c, const std::vector<Piece>& pieces) {
    const std::int64_t seeds = p_.ensemble.seeds, n = std::ssize(c.genomes) * seeds, m = series_.modes();
    std::int64_t windows = 0;
    for (const auto& piece : pieces) windows += std::ssize(piece.starts);
    Forecasts out{Matrix(windows, shape_.future * m), Matrix(windows, shape_.future * m), std::vector<double>(seeds),
                  std::vector<std::vector<float>>(n)};
    for (std::int64_t i = context_.comm.rank(); i < n; i += context_.comm.size()) {
      const auto k = static_cast<std::size_t>(i / seeds);
      MemberOptions o = p_.member(c.genomes[k]);
      o.epochs = c.epochs[k];
      std::size_t at = 0;
      for (const auto& piece : pieces) {
        Member member(o, context_.seed + 1000003ULL * static_cast<std::uint64_t>(i + 1), context_);
        member.fit(piece.fit);
        const Matrix y = member.predict(piece.on, piece.starts, shape_);
        for (double x : y.a) out.mean.a[at] += x, out.deviation.a[at] += x * x, ++at;
        if (k == 0) out.first[i] = score(targets(piece.on.a, piece.starts, shape_), y, m).r2;
        out.weights[i] = member.weights();
      }
    }
    context_.comm.sum(out.mean.a);
    context_.comm.sum(out.deviation.a);
    context_.comm.sum(out.first);
    for (std::size_t e = 0; e < out.mean.a.size(); ++e) {
      const double mean = out.mean.a[e] / static_cast<double>(n);
      out.deviation.a[e] = std::sqrt(std::max(0.0, out.deviation.a[e] / static_cast<double>(n) - mean * mean));
      out.mean.a[e] = mean;
    }
    return out;
  }

  /// Writes ensemble.h5, from which the stage `forecast` reproduces these forecasts and computes others.
  void store(const Selection& selection, const Forecaster& linear, const std::vector<std::vector<float>>& weights) {
    EnsembleFile file{p_.member({}), shape_, series_.modes(), selection.linear_share, {}};
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const auto& genome = found_.genomes[i / static_cast<std::size_t>(p_.ensemble.seeds)];
      std::vector<double> message(weights[i].begin(), weights[i].end());  // broadcast from the rank that trained it
      message.resize(context_.comm.max(static_cast<int>(message.size())));
      context_.comm.sum(message);
      file.networks.push_back({genome, {message.begin(), message.end()}});
    }
    const Preparation preparation(p_.member({}), {series_.train, shape_, series_.train.times(), all_});
    io::on_root(context_.comm, [&] { write_ensemble(file, preparation, linear, context_); });
  }

  TableRow row(const std::string& name, const Matrix& forecast, double validation) const {
    TableRow out;
    out.name = name;
    (p_.data.protocol == Protocol::blocked ? out.blocked : out.paper) = validation;
    const Matrix truth = targets(series_.test.a, test_, shape_);
    out.test = score(truth, forecast, series_.modes());
    out.rmse = rmse_by_lead(series_, truth, forecast, shape_);
    out.forecast = forecast;
    return out;
  }

  void report_seeds(const std::vector<double>& r2) {
    double mean = 0.0, square = 0.0;
    for (double x : r2) mean += x / static_cast<double>(r2.size());
    for (double x : r2) square += (x - mean) * (x - mean);
    std::string each;
    for (double x : r2) each += fmt::format(" {:.4f}", x);
    const double deviation = r2.size() > 1 ? std::sqrt(square / static_cast<double>(r2.size() - 1)) : 0.0;
    const auto genome = genome_text(found_.genomes.front());
    context_.log.info(fmt::format("best network [{}] alone, test R2 over {} seeds: {:.4f} +- {:.4f} ({} )", genome,
                                  r2.size(), mean, deviation, each));
    results_.push_back(
        in_table("best_network_test_r2", "test R2 of the best network alone, mean over its seeds", mean));
    results_.back().remark = genome;
    results_.push_back(in_table("best_network_deviation", "standard deviation over these seeds", deviation));
    results_.push_back(in_table("best_network_seeds", "seeds of the best network", static_cast<double>(r2.size())));
  }

  const SearchTask::Params& p_;
  const Series& series_;
  Journal* journal_;
  std::vector<Result>& results_;
  Context& context_;
  WindowEvaluator evaluator_;
  WindowShape shape_;
  std::vector<std::int64_t> all_, test_;
  Chosen found_, plain_;
  double line_r2_ = 0.0;
};

}  // namespace

std::vector<TableRow> final_table(const SearchTask::Params& params, const Series& series, Journal* journal,
                                  std::vector<Result>& results, Context& context) {
  return FinalTable(params, series, journal, results, context).make();
}

}  // namespace cambium::podlstm
