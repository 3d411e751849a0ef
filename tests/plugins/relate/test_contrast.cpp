// Contrastive losses of cosines beside plain loops, and the network that learns choices by them.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/error.hpp"
#include "core/parallel/random.hpp"
#include "plugins/relate/datasets/choice_table.hpp"
#include "plugins/relate/networks/contrast.hpp"
#include "plugins/relate/networks/cosine_factorization.hpp"
#include "tests/plugins/relate/relate_case.hpp"

using namespace cambium;
using namespace cambium::relate;

namespace {

double normal_of(std::uint64_t what, std::size_t k) { return Random4(5, Stream::test, k, what).normal(0); }

struct Batch {
  int samples, drawn, width;
  std::vector<double> users, chosen, others;
  std::vector<std::vector<int>> known;
  Batch(int s, int m, int w) : samples(s), drawn(m), width(w), known(static_cast<std::size_t>(s)) {
    for (int k = 0; k < s * w; ++k) users.push_back(normal_of(1, static_cast<std::size_t>(k)));
    for (int k = 0; k < s * w; ++k) chosen.push_back(normal_of(2, static_cast<std::size_t>(k)));
    for (int k = 0; k < m * w; ++k) others.push_back(normal_of(3, static_cast<std::size_t>(k)));
    if (s > 1 && m > 2) known[1] = {0, 2};
  }
  double cosine(const std::vector<double>& a, int i, const std::vector<double>& b, int j) const {
    double ab = 0.0, aa = 0.0, bb = 0.0;
    for (int k = 0; k < width; ++k) {
      const double x = a[i * width + k], y = b[j * width + k];
      ab += x * y;
      aa += x * x;
      bb += y * y;
    }
    return ab / std::sqrt(aa * bb);
  }
  /// Summed loss and share of wrong orders, as the header states them.
  std::pair<double, double> plain(const ContrastLoss& loss) const {
    double sum = 0.0, wrong = 0.0;
    for (int s = 0; s < samples; ++s) {
      const double right = cosine(users, s, chosen, s);
      double over = 0.0, exps = 0.0, above = 0.0, counted = 0.0;
      for (int j = 0; j < drawn; ++j) {
        const auto& skip = known[s];
        if (std::find(skip.begin(), skip.end(), j) != skip.end()) continue;
        const double other = cosine(users, s, others, j);
        over += std::max(0.0, other - loss.margin);
        exps += std::exp((other - right) / loss.temperature);
        above += other > right;
        counted += 1.0;
      }
      sum +=
          loss.kind == ContrastLoss::Kind::margin ? 1.0 - right + loss.weight * over / counted : std::log(1.0 + exps);
      wrong += above / counted;
    }
    return {sum, wrong};
  }
};

}  // namespace

TEST_CASE("contrastive losses and their derivatives are those of plain loops") {
  for (const auto kind : {ContrastLoss::Kind::margin, ContrastLoss::Kind::softmax}) {
    const ContrastLoss loss{kind, 0.1, 3.0, 0.2};
    Batch batch(5, 9, 4);
    Contrast<double> kernel(loss, batch.width);
    const auto run = [&] {
      return kernel.forward({batch.users.data(), batch.chosen.data(), batch.others.data()}, batch.samples, batch.drawn,
                            batch.known);
    };
    const auto [sum, wrong] = batch.plain(loss);
    CHECK(run().loss == Approx(sum).epsilon(1e-13));
    CHECK(run().wrong == Approx(wrong).epsilon(1e-13));
    std::vector<double> by_users(batch.users.size(), 1.0), by_chosen(batch.chosen.size(), 1.0),
        by_others(batch.others.size(), 1.0);
    run();
    kernel.backward(2.0, by_users.data(), by_chosen.data(), by_others.data());
    for (auto [rows, by] :
         {std::pair{&batch.users, &by_users}, {&batch.chosen, &by_chosen}, {&batch.others, &by_others}})
      for (std::size_t k = 0; k < rows->size(); ++k) {
        constexpr double step = 1e-6;
        const double first = (*rows)[k];
        (*rows)[k] = first + step;
        const double above = batch.plain(loss).first;
        (*rows)[k] = first - step;
        const double below = batch.plain(loss).first;
        (*rows)[k] = first;
        CHECK((*by)[k] == Approx(1.0 + 2.0 * (above - below) / (2.0 * step)).epsilon(1e-6).margin(1e-7));
      }
  }
}

TEST_CASE("in float the softmax is that of doubles to seven digits") {
  const Batch batch(33, 70, 16);
  const ContrastLoss loss{ContrastLoss::Kind::softmax, 0.9, 1.0, 0.05};
  const std::vector<float> users(batch.users.begin(), batch.users.end()),
      chosen(batch.chosen.begin(), batch.chosen.end()), others(batch.others.begin(), batch.others.end());
  Contrast<float> kernel(loss, batch.width);
  const auto sums = kernel.forward({users.data(), chosen.data(), others.data()}, 33, 70, batch.known);
  CHECK(sums.loss == Approx(batch.plain(loss).first).epsilon(1e-5));
}

TEST_CASE("a row of zeros has no direction, no derivative, and breaks nothing") {
  Batch batch(2, 3, 4);
  std::fill_n(batch.users.begin(), 4, 0.0);
  Contrast<double> kernel({}, 4);
  const auto sums = kernel.forward({batch.users.data(), batch.chosen.data(), batch.others.data()}, 2, 3, batch.known);
  CHECK(std::isfinite(sums.loss));
  std::vector<double> by_users(8), by_chosen(8), by_others(12);
  kernel.backward(1.0, by_users.data(), by_chosen.data(), by_others.data());
  for (int k = 0; k < 4; ++k) CHECK(by_users[k] == 0.0);
  for (const double x : by_others) CHECK(std::isfinite(x));
}

TEST_CASE("gradients of cosine_factorization by rows of users, items and tags are differences of its loss") {
  MadeChoices keys;
  keys.users = 6;
  keys.items = 12;
  keys.tags = 4;
  keys.each = 4;
  const auto table = std::make_shared<const ChoiceTable>(make_choices(keys));
  const auto records = share(choice_records(table, Role::training, 0, 1));
  Held data(records);
  Comm comm(MPI_COMM_SELF);
  Log log{nullptr, false};
  Timing timing;
  Context context{comm, log, timing};
  for (const auto& [history, each] : {std::pair{0.0, 0}, {0.4, 0}, {0.4, 3}}) {
    CosineFactorization::Params params;
    params.width = 3;
    params.drawn = 7;
    params.each = each;
    params.history = history;
    params.precision = Precision::float64;
    CosineFactorization network(params, context);
    network.fit_statistics(data, context);
    NetworkCase use(network);
    network.begin_step(3, 11);
    const auto infos = network.tables();
    REQUIRE(infos.size() == 3);
    std::vector<std::vector<double>> rows(3), moved;
    for (std::size_t t = 0; t < 3; ++t)
      for (std::int64_t k = 0; k < infos[t].rows * 3; ++k)
        rows[t].push_back(normal_of(20 + t, static_cast<std::size_t>(k)));
    use.set_rows(rows);
    const auto samples = samples_of(records);
    use.gradient(samples);
    use.tables->step(1.0, 1.0);  // rows move by minus their gradients
    for (std::size_t t = 0; t < 3; ++t) moved.push_back(use.rows(t));
    for (std::size_t t = 0; t < 3; ++t)
      for (std::size_t k = 0; k < rows[t].size(); ++k) {
        constexpr double step = 1e-6;
        auto other = rows;
        other[t][k] = rows[t][k] + step;
        use.set_rows(other);
        const double above = use.gradient(samples);
        other[t][k] = rows[t][k] - step;
        use.set_rows(other);
        const double below = use.gradient(samples);
        CHECK(rows[t][k] - moved[t][k] == Approx((above - below) / (2.0 * step)).epsilon(1e-5).margin(1e-7));
      }
  }
}

TEST_CASE("a choice is told from as many drawn items as are picked for it alone, each as often as any") {
  MadeChoices keys;
  keys.users = 40;
  keys.items = 300;
  keys.each = 3;
  const auto table = std::make_shared<const ChoiceTable>(make_choices(keys));
  const auto records = share(choice_records(table, Role::training, 0, 1));
  const auto samples = samples_of(records);
  ChoiceRows all(4, 0.0), picked(4, 0.0, 5);
  all.fit(*table);
  picked.fit(*table);
  std::vector<int> often(16);
  for (std::uint64_t step = 0; step < 200; ++step) {
    all.draw(16, 3, step);
    picked.draw(16, 3, step);
    const auto known = all.left_out(samples), out = picked.left_out(samples);
    for (std::size_t s = 0; s < samples.size(); ++s) {
      std::vector<bool> left(16);
      for (const int j : out[s]) {
        CHECK_FALSE(left[j]);
        left[j] = true;
      }
      for (const int j : known[s]) CHECK(left[j]);
      if (!known[s].empty()) continue;
      CHECK(out[s].size() == 11);
      for (std::size_t j = 0; j < 16; ++j) often[j] += !left[j];
    }
    const auto alone = picked.left_out(std::span(samples).last(1));
    CHECK(alone[0] == out.back());  // whoever else is in the batch
  }
  double sum = 0.0;
  for (const int n : often) sum += n;
  for (const int n : often) CHECK(n == Approx(sum / 16.0).epsilon(0.05));
}

TEST_CASE("a stored cosine_factorization knows what it was trained on, and refuses drawn records and other choices") {
  MadeChoices keys;
  keys.users = 6;
  keys.items = 12;
  keys.each = 4;
  const auto table = std::make_shared<const ChoiceTable>(make_choices(keys));
  Held data(share(choice_records(table, Role::training, 0, 1)));
  Comm comm(MPI_COMM_SELF);
  Log log{nullptr, false};
  Timing timing;
  Context context{comm, log, timing};
  CosineFactorization network({}, context), again({}, context);
  network.fit_statistics(data, context);
  again.restore(network.state());
  CHECK(again.state() == network.state());
  CHECK_THROWS_WITH(again.restore(R"({"users": -3, "items": 2, "tags": 0, "never_chosen": []})"),
                    "the state of this cosine_factorization holds invalid sizes of tables; its file is damaged or was "
                    "changed");
  Held drawn(share(choice_records(table, Role::training, 2, 1)));
  NetworkCase use(network);
  network.begin_step(1, 1);
  CHECK_THROWS_WITH(
      use.gradient(samples_of(drawn.records)),
      "synthetic interactions: cosine_factorization samples negatives itself; give the data set num_negatives: 0");
  keys.items = 13;
  const auto other = std::make_shared<const ChoiceTable>(make_choices(keys));
  CHECK_THROWS_WITH(
      network.bags(samples_of(share(choice_records(other, Role::training, 0, 1)))),
      "synthetic interactions: this cosine_factorization has 6 users and 12 items; take the interactions that it was "
      "trained on");
}
