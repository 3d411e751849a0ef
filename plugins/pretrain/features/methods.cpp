#include "plugins/pretrain/features/methods.hpp"

#include <fmt/format.h>

#include <iterator>
#include <map>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "plugins/pretrain/features/cca.hpp"
#include "plugins/pretrain/features/kernel_fit.hpp"
#include "plugins/pretrain/features/pca.hpp"
#include "plugins/pretrain/features/physics.hpp"
#include "plugins/pretrain/features/scaled_parameters.hpp"

namespace cambium::pretrain {

namespace {

constexpr std::int64_t components = 64, most_numbers = 400;

/// Indices of the rows at each time.
std::map<std::int64_t, std::vector<std::int64_t>> rows_by_moment(const Table& table) {
  std::map<std::int64_t, std::vector<std::int64_t>> out;
  for (std::size_t k = 0; k < table.moment.size(); ++k) out[table.moment[k]].push_back(static_cast<std::int64_t>(k));
  return out;
}

/// Subtracts the archive's mean over simulations at each time from the fields; at times missing in the archive, the
/// table's own mean, if it has several fields of that time, else the mean of all.
Matrix centred(const Table& table, const Table& archive) {
  std::map<std::int64_t, std::vector<double>> means;
  for (const auto& [moment, of] : rows_by_moment(table))
    if (of.size() > 1) means[moment] = column_means(rows_of(table.field, of));
  for (const auto& [moment, of] : rows_by_moment(archive)) means[moment] = column_means(rows_of(archive.field, of));
  const auto all = column_means(archive.field);
  Matrix out = table.field;
  for (std::int64_t k = 0; k < out.rows; ++k) {
    const auto found = table.moment.empty() ? means.end() : means.find(table.moment[k]);
    const auto& mean = found == means.end() ? all : found->second;
    for (std::size_t c = 0; c < mean.size(); ++c) out.row(k)[c] -= mean[c];
  }
  return out;
}

/// For the centred fields of the archive and of the queries: principal components in units of the changes between
/// successive snapshots of a run. None if runs have one snapshot.
std::optional<Method> relevant(const Table& archive, const Matrix& known, const Matrix& asked) {
  if (archive.moment.empty() || archive.simulation.empty()) return {};
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> row_of;
  for (std::int64_t k = 0; k < archive.rows(); ++k) {
    const auto at = static_cast<std::size_t>(k);
    row_of[{archive.simulation[at], archive.moment[at]}] = k;
  }
  std::vector<std::int64_t> before, after;
  for (auto it = row_of.begin(); it != row_of.end() && std::next(it) != row_of.end(); ++it)
    if (std::next(it)->first.first == it->first.first) {
      before.push_back(it->second);
      after.push_back(std::next(it)->second);
    }
  if (before.empty()) return {};
  const PrincipalComponents pca(known, components);
  const Matrix rows = pca(known);
  if (rows.columns == 0) return {};  // identical runs, or only one
  Matrix changes = rows_of(rows, after);
  const Matrix from = rows_of(rows, before);
  for (std::size_t k = 0; k < changes.values.size(); ++k) changes.values[k] -= from.values[k];
  const RelevantComponents scaled(changes);
  return Method{"relevant", scaled(rows), scaled(pca(asked))};
}

void require_same_shape(const Table& archive, const Table& queries) {
  const auto &known = archive.channel_names, &asked = queries.channel_names;
  if (archive.shape.channels != queries.shape.channels || archive.shape.cells != queries.shape.cells)
    throw InputError("archive and queries hold fields of other shapes; give both the same channels and cells");
  if (archive.shape.periodic != queries.shape.periodic)
    throw InputError("archive and queries differ in which axes are periodic; give both the same 'periodic'");
  if (asked.size() > 1 && known.size() == asked.size() && known != asked)
    throw InputError(fmt::format("the archive holds the fields {}, queries {}; give both the same in the same order",
                                 join(known), join(asked)));
}

}  // namespace

std::vector<Method> methods_for(const Table& given_archive, const Table& given_queries, const Matrix& archive_vectors,
                                const Matrix& query_vectors) {
  require_same_shape(given_archive, given_queries);
  const auto units = channel_deviations(given_archive);
  const Table archive = in_units(given_archive, units), queries = in_units(given_queries, units);
  std::vector<Method> out;
  if (!archive_vectors.empty()) out.push_back({"encoder", archive_vectors, query_vectors});
  out.push_back({"pixels", archive.field, queries.field});
  const Matrix known_anomalies = centred(archive, archive), asked_anomalies = centred(queries, archive);
  out.push_back({"pixels - mean", known_anomalies, asked_anomalies});
  if (auto method = relevant(archive, known_anomalies, asked_anomalies)) out.push_back(std::move(*method));
  const PrincipalComponents pca(archive.field, components);
  out.push_back({"PCA", pca(archive.field), pca(queries.field)});
  const Matrix known = physics_features(archive.field, archive.shape);
  out.push_back(
      {"physicist", standardised(known, known), standardised(physics_features(queries.field, queries.shape), known)});
  return out;
}

std::vector<Method> methods_for_partners(const Table& given_training, const Table& given_queries,
                                         const Matrix& partner_vectors, const Matrix& query_vectors) {
  require_same_shape(given_training, given_queries);
  const auto units = channel_deviations(given_training);
  const Table training = in_units(given_training, units), queries = in_units(given_queries, units);
  const bool fields = !queries.partner.empty();
  const Matrix& partners = fields ? queries.partner : queries.parameters;
  const Matrix& known = fields ? training.partner : training.parameters;
  if (partners.empty() || known.empty())
    throw KeyError("neighbours.by.none", "by",
                   "by: partner needs positive pairs, and the samples have none; give the data sets 'pair_offset', "
                   "'split_halves' or "
                   "'parameters', or another "
                   "'by'");
  std::vector<Method> out;
  if (!partner_vectors.empty()) out.push_back({"encoder", partner_vectors, query_vectors});
  const auto short_rows = [](const Matrix& of, const Matrix& rows) {
    return of.columns > most_numbers ? PrincipalComponents(of, most_numbers)(rows) : rows;
  };
  const auto [scaled, scaled_known] = fields ? std::pair(partners, known) : comparable_by_known(partners, known);
  const CanonicalCorrelations cca(short_rows(training.field, training.field), short_rows(known, scaled_known));
  out.push_back(
      {"CCA", cca.of_second(short_rows(known, scaled)), cca.of_first(short_rows(training.field, queries.field))});
  if (!fields) return out;
  out.push_back({"pixels", queries.partner, queries.field});
  out.push_back({"pixels - mean", minus(queries.partner, column_means(training.partner)),
                 minus(queries.field, column_means(training.field))});
  return out;
}

/// One row per combination of parameters: the mean over its rows.
static std::pair<Matrix, Matrix> means_of_runs(const Matrix& parameters, const Matrix& rows) {
  std::map<std::vector<double>, std::vector<std::int64_t>> same;
  for (std::int64_t k = 0; k < parameters.rows; ++k)
    same[{parameters.row(k).begin(), parameters.row(k).end()}].push_back(k);
  std::pair<Matrix, Matrix> out{Matrix(std::ssize(same), parameters.columns), Matrix(std::ssize(same), rows.columns)};
  std::int64_t at = 0;
  for (const auto& [values, of] : same) {
    const auto mean = column_means(rows_of(rows, of));
    std::copy(values.begin(), values.end(), out.first.row(at).begin());
    std::copy(mean.begin(), mean.end(), out.second.row(at++).begin());
  }
  return out;
}

std::vector<Method> methods_for_parameters(const Table& archive, const Matrix& asked, const Matrix& archive_vectors,
                                           const Matrix& asked_vectors) {
  std::vector<Method> out;
  if (!archive_vectors.empty()) out.push_back({"encoder", archive_vectors, asked_vectors});
  const auto [scaled_asked, scaled] = comparable(asked, archive.parameters);
  const Matrix in_own_units = in_units(archive, channel_deviations(archive)).field;
  const PrincipalComponents pca(in_own_units, components);
  const Matrix fields = pca(in_own_units);
  const CanonicalCorrelations cca(fields, scaled);
  out.push_back({"CCA", cca.of_first(fields), cca.of_second(scaled_asked)});
  const auto [known, means] = means_of_runs(scaled, fields);
  out.push_back({"fit", fields, KernelFit(known, means)(scaled_asked)});
  return out;
}

}  // namespace cambium::pretrain
