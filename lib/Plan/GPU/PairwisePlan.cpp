//===- PairwisePlan.cpp - Functions of pairs on a GPU -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/GPU/PairwisePlan.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Dialect/Kron/Utils/PairScalars.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/PairwiseGradPlan.h"
#include "kron/Plan/GPU/Reasons.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

std::optional<std::string> kron::getPairwiseReason(PairOpInterface op) {
  if (auto grad = dyn_cast<PairwiseGradOp>(op.getOperation()))
    return getPairwiseGradReason(grad);
  if (isa<PairwiseTangentOp>(op.getOperation()) || !op.getDirections().empty())
    return "derivatives of functions of pairs along directions have no kernel";
  return getPairsReason(op);
}

std::optional<std::string> kron::getPairsReason(PairOpInterface op) {
  Type element = getElementType(op.getInit());
  if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element)) {
    std::string reason = "element type ";
    llvm::raw_string_ostream(reason) << element << " has no kernel";
    return reason;
  }
  for (const PairArray &array : getPairArrays(op))
    if (auto type = dyn_cast<ShapedType>(array.value.getType());
        type && llvm::is_contained(type.getShape(), 0))
      return "an array has no elements";
  // Positions along K are counted in 32 bits.
  auto lhs = dyn_cast<ShapedType>(op.getLhs().getType());
  if (lhs &&
      lhs.getDimSize(op.getReducedDim(0)) > std::numeric_limits<int32_t>::max())
    return "K has more than 2147483647 positions";
  return std::nullopt;
}

bool kron::ignoresZeros(PairOpInterface op) {
  return op.getInner() &&
         (op.isDistance() || op.getReduction() == PairReduction::Sum);
}

bool kron::hasMatrixProducts(PairOpInterface op) {
  return op.getReduction() == PairReduction::Sum &&
         (op.getInner() == PairFunction::Dot ||
          op.getInner() == PairFunction::SquareDiff);
}

double kron::getExactPart(double sizeK, bool isF64) {
  double roundings = kProductRoundings + (isF64 ? sizeK / 8 : 0);
  return roundings / (sizeK + 24);
}

int64_t kron::getValueProducts(int64_t elementBytes) {
  // Values of 16 bits are TF32.
  return elementBytes == 4 ? 3 : elementBytes == 2 ? 2 : 1;
}

/// Why `op` has no matrix products as `plan` says, or nothing.
static std::optional<std::string> getProductsReason(PairOpInterface op,
                                                    const PairwisePlan &plan) {
  int64_t products = plan.elementBytes == 4 ? 3 : 1;
  if (plan.products != products)
    return expects("products to be 0 or " + Twine(products), plan.products);
  int64_t stepK = PairwisePlan::kPartBytes / plan.getPackedBytes();
  if (plan.stepK != stepK)
    return expects("k_step to be " + Twine(stepK) + " with products",
                   plan.stepK);
  if (plan.rows % 2 || plan.columns % 2)
    return expects("thread_rows and thread_columns to be even with products",
                   plan.rows % 2 ? plan.rows : plan.columns);
  bool isProduct = isa<PairwiseApplyOp>(op.getOperation());
  if (plan.lanes < 4 || (isProduct && plan.lanes != 4) ||
      plan.threads % (8 * plan.lanes))
    return expects(isProduct ? "column_threads to be 4 with products"
                             : "column_threads to be 4 to 32, an eighth of a "
                               "divisor of threads, with products",
                   plan.lanes);
  return std::nullopt;
}

/// Why warpgroups cannot make products as `plan` says, or nothing.
static std::optional<std::string> getWarpgroupReason(const PairwisePlan &plan) {
  constexpr int64_t kGroupThreads = 128;
  if (plan.lanes != 4)
    return expects("column_threads to be 4 with wgmma", plan.lanes);
  if (plan.threads % kGroupThreads)
    return expects("threads to be a multiple of 128 with wgmma", plan.threads);
  return std::nullopt;
}

/// Why matrix instructions cannot multiply by the values as `plan` says, or
/// nothing.
static std::optional<std::string>
getValueProductsReason(PairOpInterface op, const PairwisePlan &plan) {
  auto apply = dyn_cast<PairwiseApplyOp>(op.getOperation());
  if (!apply)
    return expects("value_products to be 0 without values", plan.valueProducts);
  if (apply.getAccumulation() != PairAccumulation::Sum)
    return expects("value_products to be 0 for accumulation " +
                       stringifyPairAccumulation(apply.getAccumulation()),
                   plan.valueProducts);
  int64_t products = getValueProducts(plan.elementBytes);
  if (plan.valueProducts != products)
    return expects("value_products to be 0 or " + Twine(products),
                   plan.valueProducts);
  if (plan.valueColumns % 8)
    return expects("value_columns to be a multiple of 8 with value_products",
                   plan.valueColumns);
  return std::nullopt;
}

/// Why rows of `op` cannot stay in registers as `plan` says, or nothing.
static std::optional<std::string> getKeptRowsReason(PairOpInterface op,
                                                    const PairwisePlan &plan) {
  constexpr int64_t kMostKept = 64;
  if (!isa<PairwiseApplyOp>(op.getOperation()) || plan.products)
    return expects("keeps_rows to be 0 without values or with products", 1);
  int64_t sizeK =
      cast<ShapedType>(op.getLhs().getType()).getDimSize(op.getReducedDim(0));
  if (ShapedType::isDynamic(sizeK)) {
    sizeK = plan.maxK;
    if (!sizeK || !ignoresZeros(op))
      return std::string("expects a K that is known, or max_k and a function "
                         "that zeros do not change, with keeps_rows");
  }
  // Half of the ring arrives while threads have the other half.
  if (plan.stages % 2)
    return expects("stages to be even with keeps_rows", plan.stages);
  if (plan.stepK < sizeK)
    return expects("k_step to be all of K, " + Twine(sizeK) +
                       ", with keeps_rows",
                   plan.stepK);
  if (plan.rows * sizeK > kMostKept)
    return expects("thread_rows * K to be at most 64 with keeps_rows",
                   plan.rows * sizeK);
  return std::nullopt;
}

/// Whether `op` computes powers that a table can take the place of.
static bool hasPowers(PairOpInterface op) {
  if (!op.getAccumulatorType().isF32())
    return false;
  if (op.getInner())
    return *op.getInner() == PairFunction::PowDiff &&
           takesPowerTable(op.getExponentAttr().getValueAsDouble());
  return llvm::any_of(op.getInnerBody().front(), [](Operation &inner) {
    return getTablePower(inner).has_value();
  });
}

/// Why no kernel of `op` is as `plan` says, or nothing.
static std::optional<std::string> getReason(PairOpInterface op,
                                            const PairwisePlan &plan,
                                            const GPUMachine &machine) {
  constexpr int64_t kStepBytes = 32;
  if (plan.polynomials && !hasPowers(op))
    return expects("polynomials to be 0 without powers above 1 in f32 that "
                   "are no products",
                   plan.polynomials);
  if (plan.isSymmetric && !isSymmetricMatrix(op))
    return expects("symmetric to be 0 of what is no matrix of one array with "
                   "itself that is the same in both orders",
                   1);
  if (auto reason = getCtasReason(plan.ctasPerSM, plan.threads, machine))
    return reason;
  if (plan.stages < 2 || plan.stages > 8)
    return expects("stages to be in [2, 8]", plan.stages);
  if (!llvm::isPowerOf2_64(plan.lanes) || plan.lanes > 32)
    return expects("column_threads to be a power of two up to 32", plan.lanes);
  if (plan.usesWgmma)
    if (std::optional<std::string> reason = getWarpgroupReason(plan))
      return reason;
  if (plan.products)
    if (std::optional<std::string> reason = getProductsReason(op, plan))
      return reason;
  if (plan.valueProducts)
    if (std::optional<std::string> reason = getValueProductsReason(op, plan))
      return reason;
  if (plan.keepsRows)
    if (std::optional<std::string> reason = getKeptRowsReason(op, plan))
      return reason;
  // Rows in shared memory lie an odd number of 16 bytes apart.
  if (plan.stepK * plan.elementBytes % kStepBytes != 0)
    return expects("k_step to be a multiple of " +
                       Twine(kStepBytes / plan.elementBytes),
                   plan.stepK);
  if (plan.rows * plan.columns > PairwisePlan::kMostElements)
    return expects("thread_rows * thread_columns to be at most 128",
                   plan.rows * plan.columns);
  if (isa<PairwiseOp>(op.getOperation()) &&
      (plan.valueColumns != 1 || plan.splitCTAs != 1))
    return expects("value_columns and split_ctas to be 1 without values",
                   std::max(plan.valueColumns, plan.splitCTAs));
  if (!plan.isSymmetric && isSymmetricMatrix(op) && !plan.isAlikeInBothOrders())
    return expects("symmetric to be 1 of one array with itself with several "
                   "products, or with polynomials of some elements",
                   0);
  return getSharedMemoryReason(plan.getSharedBytes(), plan.ctasPerSM, machine);
}

/// Why no plan of pairs of `op` on `machine` has the matrix instructions that
/// `given` names, or nothing.
static std::optional<std::string>
getInstructionsReason(PairOpInterface op, GPUPlanAttr given,
                      const GPUMachine &machine) {
  auto asksFor = [&](StringRef name) {
    return given.has(name) && given.get(name) != 0;
  };
  bool isWithout =
      given.has("products") ? given.get("products") == 0 : given.isComplete();
  for (StringRef name : {"products", "wgmma", "value_products"}) {
    if (!asksFor(name))
      continue;
    if (!hasMatrixProducts(op))
      return expects(name + " to be 0 for what is no sum of products or "
                            "squares",
                     given.get(name));
    if (isWithout)
      return expects(name + " to be 0 with products = 0", given.get(name));
    if (name == "value_products" && !isa<PairwiseApplyOp>(op.getOperation()))
      return expects("value_products to be 0 without values", given.get(name));
  }
  if (!asksFor("wgmma"))
    return std::nullopt;
  if (!machine.hasWgmma)
    return expects("wgmma to be 0, as the GPU has no wgmma", 1);
  if (getElementBytes(getElementType(op.getInit())) == 8)
    return expects("wgmma to be 0 of f64", 1);
  return std::nullopt;
}

std::optional<std::string> kron::getFieldsReason(PairOpInterface op,
                                                 GPUPlanAttr given,
                                                 const GPUMachine &machine) {
  for (StringRef name : {"threads", "ctas_per_sm", "stages"})
    if (given.has(name) && given.get(name) < 1)
      return expects(name + " to be positive", given.get(name));
  return getInstructionsReason(op, given, machine);
}

bool kron::addsPairValues(PairOpInterface op) {
  auto apply = dyn_cast<PairwiseApplyOp>(op.getOperation());
  return apply && apply.getAccumulation() == PairAccumulation::Sum;
}

std::variant<PairwisePlan, std::string>
kron::readPairwisePlan(PairOpInterface op, GPUPlanAttr attr,
                       const GPUMachine &machine) {
  if (attr.getKernel() != GPUKernel::Pairwise)
    return "only kernel pairwise takes functions of pairs, but got " +
           stringifyGPUKernel(attr.getKernel()).str();
  if (std::optional<std::string> reason = getPairwiseReason(op))
    return *reason;
  if (std::optional<std::string> reason = getFieldsReason(op, attr, machine))
    return *reason;
  PairwisePlan plan;
  plan.elementBytes = getElementBytes(getElementType(op.getInit()));
  plan.addsValues = addsPairValues(op);
  PlanReader reader(attr);
  PairwiseChoices::visitFields(reader, plan);
  if (std::optional<std::string> reason = getReason(op, plan, machine))
    return *reason;
  return plan;
}
