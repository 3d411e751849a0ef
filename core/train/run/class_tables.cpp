#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>

#include "core/base/text.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/train/run/error_tables.hpp"

namespace cambium::train {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t most_class_lines = 20;     ///< of classes in the summary; the file contains all
constexpr std::int64_t most_probabilities = 64;  ///< columns of predictions.csv

/// Area under the receiver operating characteristic of one class against the others, from ranks (Mann and Whitney).
double area_of(const ClassPredictions& p, std::int64_t wanted) {
  const std::size_t n = p.label.size();
  const auto score = [&](std::size_t k) {
    return p.probability[k * static_cast<std::size_t>(p.classes) + static_cast<std::size_t>(wanted)];
  };
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return score(a) < score(b); });
  double ranks = 0.0, positives = 0.0;
  for (std::size_t first = 0; first < n;) {
    std::size_t end = first;
    double here = 0.0;
    for (; end < n && score(order[end]) == score(order[first]); ++end)
      here += p.label[order[end]] == wanted ? 1.0 : 0.0;
    ranks += here * (0.5 * static_cast<double>(first + end - 1) + 1.0);  // tied values have their mean rank
    positives += here;
    first = end;
  }
  const double negatives = static_cast<double>(n) - positives;
  if (positives == 0.0 || negatives == 0.0) return none;
  return (ranks - 0.5 * positives * (positives + 1.0)) / (positives * negatives);
}

double quotient(std::int64_t a, std::int64_t b) {
  return b > 0 ? static_cast<double>(a) / static_cast<double>(b) : none;
}

/// Mean over the classes that have a value.
template <class Of>
double macro(const std::vector<ClassScores::OfClass>& classes, const Of& of) {
  double sum = 0.0, count = 0.0;
  for (const auto& c : classes) {
    if (!std::isfinite(of(c))) continue;
    sum += of(c);
    count += 1.0;
  }
  return count > 0.0 ? sum / count : none;
}

std::int64_t chosen_of(const ClassPredictions& p, std::size_t row) {
  const auto* first = p.probability.data() + row * static_cast<std::size_t>(p.classes);
  return std::max_element(first, first + p.classes) - first;
}

std::string predictions_text(const ClassPredictions& p) {
  const bool all = p.classes <= most_probabilities;
  std::string text = "sample,reference,predicted";
  if (!all) text += ",probability_of_reference,probability_of_predicted";
  for (std::int64_t c = 0; all && c < p.classes; ++c) text += fmt::format(",probability_{}", c);
  text += "\n";
  for (std::size_t k = 0; k < p.label.size(); ++k) {
    const auto chosen = chosen_of(p, k);
    const auto* row = p.probability.data() + k * static_cast<std::size_t>(p.classes);
    text += fmt::format("{},{},{}", p.sample[k], p.label[k], chosen);
    if (!all) text += fmt::format(",{},{}", number_text(row[p.label[k]]), number_text(row[chosen]));
    for (std::int64_t c = 0; all && c < p.classes; ++c) text += "," + number_text(row[c]);
    text += "\n";
  }
  return text;
}

std::string classes_text(const ClassScores& scores) {
  std::string text = "class,samples,predicted,precision,recall,f1,auc\n";
  for (std::size_t c = 0; c < scores.classes.size(); ++c) {
    const auto& of = scores.classes[c];
    text += fmt::format("{},{},{},{},{},{},{}\n", c, of.samples, of.chosen, number_text(of.precision),
                        number_text(of.recall), number_text(of.f1), number_text(of.auc));
  }
  return text;
}

std::string confusion_text(const ClassScores& scores) {
  std::string text = "reference,predicted,samples\n";
  for (const auto& [pair, samples] : scores.confusion)
    text += fmt::format("{},{},{}\n", pair.first, pair.second, samples);
  return text;
}

void add_lines(const ClassScores& scores, std::vector<std::string>& lines) {
  const auto cell = [](double value) {
    return std::isfinite(value) ? fmt::format("{:>12.4f}", value) : fmt::format("{:>12}", "-");
  };
  lines.push_back(
      fmt::format("  {:<12}{:>12}{:>12}{:>12}{:>12}{:>12}", "class", "samples", "precision", "recall", "F1", "AUC"));
  for (std::size_t c = 0; scores.classes.size() <= most_class_lines && c < scores.classes.size(); ++c) {
    const auto& of = scores.classes[c];
    lines.push_back(fmt::format("  {:<12}{:>12}{}{}{}{}", c, of.samples, cell(of.precision), cell(of.recall),
                                cell(of.f1), cell(of.auc)));
  }
  const auto precision = macro(scores.classes, [](const auto& c) { return c.precision; });
  lines.push_back(fmt::format("  {:<12}{:>12}{}{}{}{}", "mean", "", cell(precision), cell(scores.balanced_accuracy),
                              cell(scores.macro_f1), cell(scores.macro_auc)));
  if (scores.classes.size() > most_class_lines)
    lines.push_back(fmt::format("  classes.csv has each of the {} classes", scores.classes.size()));
  lines.push_back(
      fmt::format("  accuracy {:.4f}; the most frequent class always: {:.4f}", scores.accuracy, scores.most_frequent));
}

}  // namespace

ClassScores class_scores(const ClassPredictions& p) {
  ClassScores out;
  const auto classes = static_cast<std::size_t>(p.classes);
  out.classes.resize(classes);
  std::int64_t right = 0, most = 0;
  for (std::size_t k = 0; k < p.label.size(); ++k) {
    const auto label = static_cast<std::size_t>(p.label[k]), chosen = static_cast<std::size_t>(chosen_of(p, k));
    ++out.confusion[{p.label[k], chosen_of(p, k)}];
    ++out.classes[label].samples;
    ++out.classes[chosen].chosen;
    if (label != chosen) continue;
    ++out.classes[label].right;
    ++right;
  }
  for (std::size_t c = 0; c < classes; ++c) {
    auto& of = out.classes[c];
    of.precision = of.samples > 0 && of.chosen == 0 ? 0.0 : quotient(of.right, of.chosen);
    of.recall = quotient(of.right, of.samples);
    of.f1 = quotient(2 * of.right, of.samples + of.chosen);
    of.auc = area_of(p, static_cast<std::int64_t>(c));
    most = std::max(most, of.samples);
  }
  const auto n = std::ssize(p.label);
  out.accuracy = quotient(right, n);
  out.most_frequent = quotient(most, n);
  out.balanced_accuracy = macro(out.classes, [](const auto& c) { return c.recall; });
  out.macro_f1 = macro(out.classes, [](const auto& c) { return c.f1; });
  out.macro_auc = macro(out.classes, [](const auto& c) { return c.auc; });
  return out;
}

ErrorTables write_class_tables(const ClassPredictions& predictions, const std::string& folder) {
  ErrorTables out;
  const auto scores = class_scores(predictions);
  const auto write = [&](const char* name, const std::string& text) {
    io::write_file_atomically((std::filesystem::path(folder) / name).string(), text);
    out.files.emplace_back(name);
  };
  write("predictions.csv", predictions_text(predictions));
  write("classes.csv", classes_text(scores));
  write("confusion.csv", confusion_text(scores));
  add_lines(scores, out.lines);
  const auto add = [&](const char* key, const char* label, double value) {
    if (std::isfinite(value)) out.results.push_back(in_table(key, label, value));
  };
  add("accuracy", "accuracy", scores.accuracy);
  add("balanced_accuracy", "balanced accuracy", scores.balanced_accuracy);
  add("macro_f1", "F1, mean over classes", scores.macro_f1);
  add("macro_auc", "AUC, mean over classes", scores.macro_auc);
  return out;
}

}  // namespace cambium::train
