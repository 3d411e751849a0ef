// From trials to an ensemble: everything is chosen by validation and recorded before the test years are looked at.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/io/agree.hpp"
#include "plugins/podlstm/search/search_task.hpp"

namespace cambium::podlstm {

namespace {

struct Chosen {
  std::vector<Genome> genomes;
  std::vector<std::int32_t> epochs;
  std::vector<std::int64_t> numbers;
};

/// The best trials of different networks; every rank gets them from rank 0.
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
      message.push_back(static_cast<double>(t->number)), message.push_back(t->best_epoch);
      message.insert(message.end(), t->genome.begin(), t->genome.end());
    }
  }
  const auto length = static_cast<std::int64_t>(comm.max(static_cast<double>(message.size())));
  message.resize(static_cast<std::size_t>(length));
  comm.broadcast(std::span<double>(message));
  const std::size_t row = space.choices.size() + 2;
  for (std::size_t k = 0; k < message.size(); k += row) {
    out.numbers.push_back(static_cast<std::int64_t>(message[k])), out.epochs.push_back(static_cast<std::int32_t>(message[k + 1]));
    Genome g;
    for (std::size_t d = 2; d < row; ++d) g.push_back(static_cast<int>(message[k + d]));
    out.genomes.push_back(std::move(g));
  }
  return out;
}

/// (1 - share) network + share linear.
Matrix mix(const Matrix& network, const Matrix& linear, double share) {
  Matrix out = network;
  for (std::size_t i = 0; i < out.a.size(); ++i) out.a[i] = (1.0 - share) * network.a[i] + share * linear.a[i];
  return out;
}

/// The share of the linear forecast that validates best, on a grid of 0.05.
double best_share(const Matrix& truth, const Matrix& network, const Matrix& linear, std::int64_t modes, double& r2) {
  double best = 0.0;
  r2 = -1e300;
  for (int k = 0; k <= 20; ++k)
    if (const double x = score(truth, mix(network, linear, 0.05 * k), modes).r2; x > r2) r2 = x, best = 0.05 * k;
  return best;
}

class FinalTable {
 public:
  FinalTable(const SearchTask::Params& p, const Series& s, Journal* journal, Context& c)
      : p_(p), series_(s), journal_(journal), context_(c), evaluator_(p, s, c), shape_(p.data.shape()),
        all_(all_starts(window_count(s.train, shape_, "training"))), test_(all_starts(window_count(s.test, shape_, "test"))) {}

  std::vector<TableRow> make() {
    const auto space = paper_space(static_cast<int>(series_.modes()) + 2 * p_.network.calendar);
    found_ = choose(journal_, space, p_.ensemble.members, context_.comm);
    const auto plain = choose_plain();
    const Split& split = evaluator_.split();
    const FitData fit{series_.train, shape_, split.rows, split.fit};
    const Matrix truth = targets(series_.train.a, split.validation, shape_);
    auto linear = harmonic_ridge(p_.data.baselines());
    linear->fit(fit);
    const Matrix line = linear->predict(series_.train, split.validation, shape_);
    double r2 = 0.0, plain_r2 = 0.0;
    const Matrix networks = mean_forecast(found_, fit, split.validation, series_.train, nullptr);
    const Matrix plains = mean_forecast(plain, fit, split.validation, series_.train, nullptr);
    const double share = best_share(truth, networks, line, series_.modes(), r2);
    const double plain_share = best_share(truth, plains, line, series_.modes(), plain_r2);
    Selection selection{found_.numbers, found_.epochs, share, r2, journal_ ? std::ssize(journal_->trials()) : 0, 0, 0.0};
    io::on_root(context_.comm, [&] { journal_->select(selection); });
    context_.log.info(fmt::format("chosen by validation and recorded: {} networks x {} seeds, {:.0f} % harmonics + ridge, R2 {:.4f}",
                                  found_.genomes.size(), p_.ensemble.seeds, 100.0 * share, r2));

    const FitData whole{series_.train, shape_, series_.train.times(), all_};
    std::vector<TableRow> rows;
    for (auto& method : baselines(p_.data.baselines())) rows.push_back(evaluate(*method, series_, shape_, p_.data.split(context_.seed)));
    linear->fit(whole);
    const Matrix line_test = linear->predict(series_.test, test_, shape_);
    std::vector<double> seeds;
    const Matrix tested = mean_forecast(found_, whole, test_, series_.test, &seeds);
    const Matrix plain_tested = mean_forecast(plain, whole, test_, series_.test, nullptr);
    rows.push_back(row("ensemble without recurrence", plain_tested, score(truth, plains, series_.modes()).r2));
    rows.push_back(row(fmt::format("  without recurrence, {:.0f} % linear", 100.0 * plain_share), mix(plain_tested, line_test, plain_share), plain_r2));
    rows.push_back(row("ensemble of found networks", tested, score(truth, networks, series_.modes()).r2));
    rows.push_back(row(fmt::format("  found networks, {:.0f} % linear", 100.0 * share), mix(tested, line_test, share), r2));
    report_seeds(seeds);
    selection.test_evaluations = 1, selection.test = rows.back().test.r2;
    io::on_root(context_.comm, [&] { journal_->select(selection); });
    return rows;
  }

 private:
  /// The head alone, without any recurrent layer, trained for as long as it validates best.
  Chosen choose_plain() {
    SearchTask::Params p = p_;
    p.network.epochs = p.ensemble.plain_epochs, p.network.patience = p.ensemble.plain_epochs, p.time_limit = 0.0;
    const WindowEvaluator evaluate(p, series_, context_);
    const Genome none(paper_space(1).choices.size(), 0);
    return {{none}, {evaluate({0, 1, none, {}}, [] {}).best_epoch}, {-1}};
  }

  /// Mean over networks and seeds, dealt out to the ranks; also the first network's R2 by seed.
  Matrix mean_forecast(const Chosen& c, const FitData& fit, const std::vector<std::int64_t>& starts, const Stretch& on, std::vector<double>* first) {
    const std::int64_t seeds = p_.ensemble.seeds, n = std::ssize(c.genomes) * seeds, m = series_.modes();
    Matrix sum(std::ssize(starts), shape_.future * m);
    const Matrix truth = targets(on.a, starts, shape_);
    if (first) first->assign(static_cast<std::size_t>(seeds), 0.0);
    for (std::int64_t i = context_.comm.rank(); i < n; i += context_.comm.size()) {
      const auto k = static_cast<std::size_t>(i / seeds);
      MemberOptions o = p_.member(c.genomes[k]);
      o.epochs = c.epochs[k];
      Member member(o, context_.seed + 1000003ULL * static_cast<std::uint64_t>(i + 1), context_);
      member.fit(fit);
      const Matrix y = member.predict(on, starts, shape_);
      for (std::size_t e = 0; e < sum.a.size(); ++e) sum.a[e] += y.a[e] / static_cast<double>(n);
      if (first && k == 0) (*first)[static_cast<std::size_t>(i)] = score(truth, y, m).r2;
    }
    context_.comm.sum(sum.a);
    if (first) context_.comm.sum(*first);
    return sum;
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

  void report_seeds(const std::vector<double>& r2) const {
    double mean = 0.0, square = 0.0;
    for (double x : r2) mean += x / static_cast<double>(r2.size());
    for (double x : r2) square += (x - mean) * (x - mean);
    std::string each;
    for (double x : r2) each += fmt::format(" {:.4f}", x);
    context_.log.info(fmt::format("best network [{}] alone, test R2 over {} seeds: {:.4f} +- {:.4f} ({} )", genome_text(found_.genomes.front()),
                                  r2.size(), mean, r2.size() > 1 ? std::sqrt(square / static_cast<double>(r2.size() - 1)) : 0.0, each));
  }

  const SearchTask::Params& p_;
  const Series& series_;
  Journal* journal_;
  Context& context_;
  WindowEvaluator evaluator_;
  WindowShape shape_;
  std::vector<std::int64_t> all_, test_;
  Chosen found_;
};

}  // namespace

std::vector<TableRow> final_table(const SearchTask::Params& params, const Series& series, Journal* journal, Context& context) {
  return FinalTable(params, series, journal, context).make();
}

}  // namespace cambium::podlstm
