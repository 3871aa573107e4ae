// The steps of conjugate gradients with one reduction over all ranks an iteration (Chronopoulos, Gear 1989): AcrossUpdate, the
// product t = A M r, AcrossCurvature, and add_up_ranks, which combines the sums of all ranks. See steps.hpp.
//
// Unlike plain conjugate gradients, the method does not multiply A p but updates it by a recurrence, q = A M r + beta q, so
// that p.Ap follows from sums that are all available at one time:
//   p.Ap = Mr.AMr - beta^2 (previous p.Ap) = Mr.AMr - beta r.Mr / (previous alpha).
#pragma once

#include "kernels/krylov/steps.hpp"

namespace workbench::krylov {

/// r = b - A x, with A x in q; M r; p = q = 0.
struct AcrossBegin : SummingPass {
    template <typename Value>
    static constexpr Element<Value> read(const Vectors<Value>& v, Index i) {
        return {.diagonal = diagonal_at(v, i), .a = v.b[i], .b = v.q[i]};
    }
    template <typename Value>
    static constexpr void write(const Vectors<Value>& v, const Scalars&, Index i, const Element<Value>& e, Sums& sums) {
        const Value r = e.a - e.b;
        const Value mr = e.diagonal * r;
        v.r[i] = r;
        if (v.inverse_diagonal != nullptr) v.ms[i] = mr;
        v.p[i] = 0;
        v.q[i] = 0;
        sums.first += product(r, r);
        sums.second += product(r, mr);
    }
    static constexpr void finish(Scalars& s, const Sums& sums) {
        s.own[0] = sums.first;
        s.own[1] = sums.second;
        s.begins = true;
    }
};

/// p = M r + beta p, q = A M r + beta q, x += alpha p, r -= alpha q, M r.
struct AcrossUpdate : SummingPass {
    template <typename Value>
    static constexpr Element<Value> read(const Vectors<Value>& v, Index i) {
        return {.diagonal = diagonal_at(v, i), .a = v.r[i], .b = v.t[i], .c = v.p[i], .d = v.q[i], .e = v.x[i]};
    }
    template <typename Value>
    static constexpr void write(const Vectors<Value>& v, const Scalars& s, Index i, const Element<Value>& e, Sums& sums) {
        const Value before = e.diagonal * e.a;  // rounded as stored, which is what A multiplies
        const auto p = static_cast<Value>(before + s.beta * e.c);
        const auto q = static_cast<Value>(e.b + s.beta * e.d);
        const auto r = static_cast<Value>(e.a - s.alpha * q);
        const Value mr = e.diagonal * r;
        v.p[i] = p;
        v.q[i] = q;
        v.x[i] = static_cast<Value>(e.e + s.alpha * p);
        v.r[i] = r;
        if (v.inverse_diagonal != nullptr) v.ms[i] = mr;
        sums.first += product(r, r);
        sums.second += product(r, mr);
    }
    static constexpr void finish(Scalars& s, const Sums& sums) {
        s.own[0] = sums.first;
        s.own[1] = sums.second;
    }
    static constexpr std::int64_t moved(bool preconditioned) { return preconditioned ? 11 : 9; }
};

/// Mr.AMr
struct AcrossCurvature : InnerProduct {
    template <typename Value>
    static constexpr Element<Value> read(const Vectors<Value>& v, Index i) {
        return {.a = v.ms[i], .b = v.t[i]};
    }
    static constexpr void finish(Scalars& s, const Sums& sums) { s.own[2] = sums.first; }
};

/// Relative rounding error of p.Ap, which is a difference from Mr.AMr. If p.Ap is negative by more than that, the matrix is not
/// positive definite.
inline constexpr double lost_in_difference = 1e-6;

/// Ends an iteration or the initial step. all: [ranks * 3], `own` of each rank. Every rank adds them in the order of the ranks,
/// so that all compute bit-identical scalars.
constexpr void add_up_ranks(Scalars& s, const double* all, int ranks) {
    if (s.state != KrylovState::running) return;
    double residual = 0;
    double rho = 0;
    double curvature = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        residual += all[3 * rank];
        rho += all[3 * rank + 1];
        curvature += all[3 * rank + 2];
    }
    if (!s.begins) ++s.iterations;
    s.beta = s.begins ? 0 : rho / s.rho;
    const double length = s.begins ? curvature : curvature - s.beta * rho / s.alpha;  // p.Ap
    s.begins = false;
    s.rho = rho;
    s.alpha = rho / length;
    note_residual(s, residual);
    if (s.state != KrylovState::running) return;
    if (!is_finite(rho) || !is_finite(curvature)) {
        stop(s, KrylovState::breakdown, is_finite(rho) ? curvature : rho);
    } else if (rho <= 0 || curvature <= 0) {
        stop(s, KrylovState::indefinite, rho <= 0 ? rho : curvature);
    } else if (!(length > 0)) {
        stop(s, length < -lost_in_difference * curvature ? KrylovState::indefinite : KrylovState::breakdown, length);
    }
}

}  // namespace workbench::krylov
