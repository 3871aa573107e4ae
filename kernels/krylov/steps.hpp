// The vector operations of an iteration, written once for host and GPU as constexpr functions. A step makes one pass over the
// vectors, computes at most two sums and updates a few scalars. Operations that can share a pass share a step, because vectors
// cause most of the memory traffic beside the matrix.
//
//   struct Step {
//       static constexpr bool sums = true;   // does finish use the sums?
//       static constexpr bool ends = false;  // does finish count the iteration and decide whether another one follows?
//       static constexpr Element<Value> read(const Vectors<Value>&, Index i);
//       static constexpr void write(const Vectors<Value>&, const Scalars&, Index i, Element<Value>, Sums&);
//       static constexpr void finish(Scalars&, const Sums&);
//       static constexpr std::int64_t moved(bool preconditioned);   // vectors that are read or written
//   };
//
// Steps do nothing once the state is no longer `running`. `read` and `write` are separate so that a thread can have several
// elements in flight.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/contract/krylov.hpp"

namespace workbench::krylov {

/// The scalars of a solve, in device memory.
struct Scalars {
    KrylovState state = KrylovState::running;
    std::int64_t iterations = 0;
    std::int64_t until = 0;  // iteration at which the current launch ends
    double stop_below = 0;   // of r.r
    double residual = 0;     // r.r
    double rho = 0;          // cg: r.Mr; bicgstab: shadow.r
    double alpha = 0;
    double beta = 0;
    double omega = 0;
    double first = 0;  // bicgstab: shadow.shadow
    double divisor = 0;
    // NOLINTNEXTLINE(modernize-avoid-c-arrays): also compiled for a GPU
    double own[3] = {};         // cg across ranks: r.r, r.Mr and Mr.AMr of this rank's part
    bool begins = false;        // cg across ranks: `own` belongs to the beginning, before the first iteration
    double* history = nullptr;  // [iterations + 1] r.r after each iteration; null: not recorded here

    [[nodiscard]] constexpr bool goes_on() const { return state == KrylovState::running && iterations < until; }
};

/// True if another iteration of solves that advance together follows: one is running, and none of those is at its end.
constexpr bool go_on(const Scalars* scalars, int count) {
    bool any = false;
    for (int j = 0; j < count; ++j) {
        if (scalars[j].state != KrylovState::running) continue;
        if (!scalars[j].goes_on()) return false;
        any = true;
    }
    return any;
}

/// Vectors, [size] each, with the letters of the literature. M: the inverse of A's diagonal, or the identity.
template <typename Value>
struct Vectors {
    Index size = 0;
    const Value* b = nullptr;
    const Value* inverse_diagonal = nullptr;  // null: not preconditioned
    Value* x = nullptr;
    Value* r = nullptr;  // bicgstab: also s, which replaces r for half an iteration
    Value* p = nullptr;
    Value* q = nullptr;       // A p; bicgstab: A M p (v in the paper); cg across ranks: s in the paper
    Value* shadow = nullptr;  // bicgstab: the initial r
    Value* t = nullptr;       // bicgstab: A M s; cg across ranks: A M r (w in the paper)
    Value* mp = nullptr;      // bicgstab: M p and M s; p and r themselves without a preconditioner
    Value* ms = nullptr;  // M r: of cg if M is a function, r itself without a preconditioner; cg across ranks: u in the paper
};

struct Sums {
    double first = 0;
    double second = 0;
};

/// The values that a step reads for element i.
template <typename Value>
struct Element {
    Value diagonal = 1;  // of M
    Value a{}, b{}, c{}, d{}, e{};
};

template <typename Value>
constexpr Value diagonal_at(const Vectors<Value>& v, Index i) {
    return v.inverse_diagonal == nullptr ? Value{1} : v.inverse_diagonal[i];
}

/// The vector that M's diagonal multiplies to M r: r, or M r itself if M is no diagonal.
template <typename Value>
constexpr const Value* scaled_by_diagonal(const Vectors<Value>& v) {
    return v.inverse_diagonal == nullptr ? v.ms : v.r;
}

constexpr double product(double a, double b) { return a * b; }

constexpr bool is_finite(double value) {
    return value >= std::numeric_limits<double>::lowest() && value <= std::numeric_limits<double>::max();
}

constexpr void stop(Scalars& s, KrylovState state, double divisor) {
    s.state = state;
    s.divisor = divisor;
}

constexpr bool has_converged(const Scalars& s) { return s.residual == 0 || s.residual < s.stop_below; }

/// Records r.r and ends the solve if it has converged or broken down; called before the first iteration and after each.
constexpr void note_residual(Scalars& s, double residual) {
    s.residual = residual;
    if (s.history != nullptr) s.history[s.iterations] = residual;
    if (!is_finite(residual)) {
        stop(s, KrylovState::breakdown, residual);
    } else if (has_converged(s)) {
        s.state = KrylovState::converged;
    }
}

/// Ends a solve by conjugate gradients whose r.Mr is not positive.
constexpr void require_positive(Scalars& s) {
    if (s.state != KrylovState::running || s.rho > 0) return;
    stop(s, is_finite(s.rho) ? KrylovState::indefinite : KrylovState::breakdown, s.rho);
}

/// True once another iteration is pointless, for solves whose steps run in any state.
constexpr bool is_over(const Scalars& s, std::int64_t most_iterations) {
    return !is_finite(s.residual) || has_converged(s) || s.iterations >= most_iterations;
}

// What steps have in common.
struct Pass {
    static constexpr bool sums = false;
    static constexpr bool ends = false;
    static constexpr void finish(Scalars&, const Sums&) {}
};
struct SummingPass {
    static constexpr bool sums = true;
    static constexpr bool ends = false;
};
struct LastPass {
    static constexpr bool sums = true;
    static constexpr bool ends = true;
};
/// a.b of the two vectors that it reads.
struct InnerProduct : SummingPass {
    template <typename Value>
    static constexpr void write(const Vectors<Value>&, const Scalars&, Index, const Element<Value>& e, Sums& sums) {
        sums.first += product(e.a, e.b);
    }
    static constexpr std::int64_t moved(bool) { return 2; }
};

/// r = b - A x; expects A x in q.
struct Residual : Pass {
    template <typename Value>
    static constexpr Element<Value> read(const Vectors<Value>& v, Index i) {
        return {.a = v.b[i], .b = v.q[i]};
    }
    template <typename Value>
    static constexpr void write(const Vectors<Value>& v, const Scalars&, Index i, const Element<Value>& e, Sums&) {
        v.r[i] = e.a - e.b;
    }
};

// ---- Conjugate gradients. An iteration: q = A p, CgLength, CgUpdate, CgDirection; if M is a function, CgMove, ms = M r and
// CgSums instead of CgUpdate.

/// p = M r.
struct CgBegin : SummingPass {
    template <typename Value>
    static constexpr Element<Value> read(const Vectors<Value>& v, Index i) {
        return {.diagonal = diagonal_at(v, i), .a = v.r[i], .b = scaled_by_diagonal(v)[i]};
    }
    template <typename Value>
    static constexpr void write(const Vectors<Value>& v, const Scalars&, Index i, const Element<Value>& e, Sums& sums) {
        const Value mr = e.diagonal * e.b;
        v.p[i] = mr;
        sums.first += product(e.a, e.a);
        sums.second += product(e.a, mr);
    }
    static constexpr void finish(Scalars& s, const Sums& sums) {
        s.rho = sums.second;
        note_residual(s, sums.first);
        require_positive(s);
    }
};

/// alpha = r.Mr / p.q
struct CgLength : InnerProduct {
    template <typename Value>
    static constexpr Element<Value> read(const Vectors<Value>& v, Index i) {
        return {.a = v.p[i], .b = v.q[i]};
    }
    static constexpr void finish(Scalars& s, const Sums& sums) {
        s.alpha = s.rho / sums.first;
        if (!is_finite(sums.first)) {
            stop(s, KrylovState::breakdown, sums.first);
        } else if (sums.first <= 0) {
            stop(s, KrylovState::indefinite, sums.first);
        }
    }
};

/// x += alpha p, r -= alpha q; beta = r.Mr / previous r.Mr.
struct CgUpdate : LastPass {
    template <typename Value>
    static constexpr Element<Value> read(const Vectors<Value>& v, Index i) {
        return {.diagonal = diagonal_at(v, i), .a = v.x[i], .b = v.r[i], .c = v.p[i], .d = v.q[i]};
    }
    template <typename Value>
    static constexpr void write(const Vectors<Value>& v, const Scalars& s, Index i, const Element<Value>& e, Sums& sums) {
        v.x[i] = static_cast<Value>(e.a + s.alpha * e.c);
        const auto r = static_cast<Value>(e.b - s.alpha * e.d);
        v.r[i] = r;
        sums.first += product(r, r);
        sums.second += product(r, e.diagonal * r);
    }
    static constexpr void finish(Scalars& s, const Sums& sums) {
        ++s.iterations;
        s.beta = sums.second / s.rho;
        s.rho = sums.second;
        note_residual(s, sums.first);
        require_positive(s);
    }
    static constexpr std::int64_t moved(bool preconditioned) { return preconditioned ? 7 : 6; }
};

/// x += alpha p, r -= alpha q
struct CgMove : Pass {
    template <typename Value>
    static constexpr Element<Value> read(const Vectors<Value>& v, Index i) {
        return {.a = v.x[i], .b = v.r[i], .c = v.p[i], .d = v.q[i]};
    }
    template <typename Value>
    static constexpr void write(const Vectors<Value>& v, const Scalars& s, Index i, const Element<Value>& e, Sums&) {
        v.x[i] = static_cast<Value>(e.a + s.alpha * e.c);
        v.r[i] = static_cast<Value>(e.b - s.alpha * e.d);
    }
};

/// beta = r.Mr / previous r.Mr, for M r in ms.
struct CgSums : LastPass {
    template <typename Value>
    static constexpr Element<Value> read(const Vectors<Value>& v, Index i) {
        return {.a = v.r[i], .b = v.ms[i]};
    }
    template <typename Value>
    static constexpr void write(const Vectors<Value>&, const Scalars&, Index, const Element<Value>& e, Sums& sums) {
        sums.first += product(e.a, e.a);
        sums.second += product(e.a, e.b);
    }
    static constexpr void finish(Scalars& s, const Sums& sums) { CgUpdate::finish(s, sums); }
};

/// The scalars of an iteration with one wait for all sums: r.r and r.Mr of its beginning, p.q and q.Mq. r.Mr of its end is
/// predicted, because r is orthogonal to the direction before p (Meurant 1987):
///   r.Mr - 2 alpha r.Mq + alpha^2 q.Mq = alpha^2 q.Mq - r.Mr,
/// and computed at the beginning of the next iteration, where alpha depends on it; so errors of predictions do not add up.
struct CgStep {
    struct Totals {
        double residual = 0;  // r.r
        double rho = 0;       // r.Mr
        double length = 0;    // p.q
        double image = 0;     // q.Mq
    };

    /// Ends the solve if it has converged or broken down.
    static constexpr void take_residual(Scalars& s, double residual, double rho) {
        s.rho = rho;
        note_residual(s, residual);
        require_positive(s);
    }

    static constexpr void finish(Scalars& s, const Totals& totals) {
        take_residual(s, totals.residual, totals.rho);
        if (s.state != KrylovState::running) return;
        if (!is_finite(totals.length)) return stop(s, KrylovState::breakdown, totals.length);
        if (totals.length <= 0) return stop(s, KrylovState::indefinite, totals.length);
        const double inverse = 1 / totals.length;
        s.alpha = s.rho * inverse;
        const double beta = s.alpha * totals.image * inverse - 1;
        s.beta = beta > 0 ? beta : 0;  // rounding can make it negative
        ++s.iterations;
    }
};

/// p = M r + beta p
struct CgDirection : Pass {
    template <typename Value>
    static constexpr Element<Value> read(const Vectors<Value>& v, Index i) {
        return {.diagonal = diagonal_at(v, i), .a = scaled_by_diagonal(v)[i], .b = v.p[i]};
    }
    template <typename Value>
    static constexpr void write(const Vectors<Value>& v, const Scalars& s, Index i, const Element<Value>& e, Sums&) {
        v.p[i] = static_cast<Value>(product(e.diagonal, e.a) + s.beta * e.b);
    }
    static constexpr std::int64_t moved(bool preconditioned) { return preconditioned ? 4 : 3; }
};

// ---- BiCGStab, preconditioned from the right. An iteration: q = A mp, StabLength, StabHalf, t = A ms, StabOmega, StabUpdate,
// StabDirection.

/// shadow = p = r
struct StabBegin : SummingPass {
    template <typename Value>
    static constexpr Element<Value> read(const Vectors<Value>& v, Index i) {
        return {.diagonal = diagonal_at(v, i), .a = v.r[i]};
    }
    template <typename Value>
    static constexpr void write(const Vectors<Value>& v, const Scalars&, Index i, const Element<Value>& e, Sums& sums) {
        v.shadow[i] = e.a;
        v.p[i] = e.a;
        v.mp[i] = e.diagonal * e.a;
        sums.first += product(e.a, e.a);
    }
    static constexpr void finish(Scalars& s, const Sums& sums) {
        s.rho = sums.first;
        s.first = sums.first;
        note_residual(s, sums.first);
    }
};

/// alpha = shadow.r / shadow.q
struct StabLength : InnerProduct {
    template <typename Value>
    static constexpr Element<Value> read(const Vectors<Value>& v, Index i) {
        return {.a = v.shadow[i], .b = v.q[i]};
    }
    static constexpr void finish(Scalars& s, const Sums& sums) {
        s.alpha = s.rho / sums.first;
        if (sums.first == 0 || !is_finite(s.alpha)) stop(s, KrylovState::breakdown, sums.first);
    }
};

/// s = r - alpha q, stored in r
struct StabHalf : Pass {
    template <typename Value>
    static constexpr Element<Value> read(const Vectors<Value>& v, Index i) {
        return {.diagonal = diagonal_at(v, i), .a = v.r[i], .b = v.q[i]};
    }
    template <typename Value>
    static constexpr void write(const Vectors<Value>& v, const Scalars& s, Index i, const Element<Value>& e, Sums&) {
        const auto half = static_cast<Value>(e.a - s.alpha * e.b);
        v.r[i] = half;
        if (v.inverse_diagonal != nullptr) v.ms[i] = e.diagonal * half;
    }
    static constexpr std::int64_t moved(bool preconditioned) { return preconditioned ? 5 : 3; }
};

/// omega = t.s / t.t
struct StabOmega : SummingPass {
    template <typename Value>
    static constexpr Element<Value> read(const Vectors<Value>& v, Index i) {
        return {.a = v.t[i], .b = v.r[i]};
    }
    template <typename Value>
    static constexpr void write(const Vectors<Value>&, const Scalars&, Index, const Element<Value>& e, Sums& sums) {
        sums.first += product(e.a, e.a);
        sums.second += product(e.a, e.b);
    }
    static constexpr void finish(Scalars& s, const Sums& sums) { s.omega = sums.first > 0 ? sums.second / sums.first : 0; }
    static constexpr std::int64_t moved(bool) { return 2; }
};

/// x += alpha mp + omega ms, r = s - omega t; beta = (shadow.r / previous shadow.r) (alpha / omega).
struct StabUpdate : LastPass {
    template <typename Value>
    static constexpr Element<Value> read(const Vectors<Value>& v, Index i) {
        return {.a = v.x[i], .b = v.mp[i], .c = v.ms[i], .d = v.t[i], .e = v.r[i]};
    }
    template <typename Value>
    static constexpr void write(const Vectors<Value>& v, const Scalars& s, Index i, const Element<Value>& e, Sums& sums) {
        v.x[i] = static_cast<Value>(e.a + s.alpha * e.b + s.omega * e.c);
        const auto r = static_cast<Value>(e.e - s.omega * e.d);
        v.r[i] = r;
        sums.first += product(r, r);
        sums.second += product(r, v.shadow[i]);
    }
    static constexpr void finish(Scalars& s, const Sums& sums) {
        constexpr double epsilon = std::numeric_limits<double>::epsilon();
        ++s.iterations;
        s.beta = sums.second / s.rho * (s.alpha / s.omega);
        s.rho = sums.second;
        note_residual(s, sums.first);
        if (s.state != KrylovState::running) return;
        const double size = s.rho < 0 ? -s.rho : s.rho;
        // r is orthogonal to the shadow up to rounding: a breakdown.
        if (size < epsilon * epsilon * s.first) {
            stop(s, KrylovState::breakdown, s.rho);
        } else if (s.omega == 0 || !is_finite(s.beta)) {
            stop(s, KrylovState::breakdown, s.omega);
        }
    }
    static constexpr std::int64_t moved(bool preconditioned) { return preconditioned ? 8 : 7; }
};

/// p = r + beta (p - omega q)
struct StabDirection : Pass {
    template <typename Value>
    static constexpr Element<Value> read(const Vectors<Value>& v, Index i) {
        return {.diagonal = diagonal_at(v, i), .a = v.r[i], .b = v.p[i], .c = v.q[i]};
    }
    template <typename Value>
    static constexpr void write(const Vectors<Value>& v, const Scalars& s, Index i, const Element<Value>& e, Sums&) {
        const auto p = static_cast<Value>(e.a + s.beta * (e.b - s.omega * e.c));
        v.p[i] = p;
        if (v.inverse_diagonal != nullptr) v.mp[i] = e.diagonal * p;
    }
    static constexpr std::int64_t moved(bool preconditioned) { return preconditioned ? 6 : 4; }
};

/// The number of vectors that the steps of an iteration move, counting a vector once per step.
constexpr std::int64_t vectors_moved(KrylovMethod method, bool preconditioned) {
    const auto sum = [&](auto... steps) { return (decltype(steps)::moved(preconditioned) + ...); };
    return method == KrylovMethod::cg ? sum(CgLength(), CgUpdate(), CgDirection())
                                      : sum(StabLength(), StabHalf(), StabOmega(), StabUpdate(), StabDirection());
}

/// The steps of a conjugate gradient iteration after q = A p.
template <typename RunStep>
void run_cg_steps(const RunStep& step) {
    step(CgLength());
    step(CgUpdate());
    step(CgDirection());
}

/// The preconditioner of a solve whose M is a diagonal or the identity, which the steps apply.
struct InSteps {};

/// One iteration. `step` runs a Step; `multiply(from, to)` computes to = A from; `precondition(from, to)` computes to = M from,
/// unless it is InSteps.
template <typename Value, typename RunStep, typename Multiply, typename Precondition = InSteps>
void iterate(KrylovMethod method, const Vectors<Value>& v, const RunStep& step, const Multiply& multiply,
             [[maybe_unused]] const Precondition& precondition = {}) {
    constexpr bool by_function = !std::is_same_v<Precondition, InSteps>;
    if (method == KrylovMethod::cg) {
        multiply(v.p, v.q);
        if constexpr (by_function) {
            step(CgLength());
            step(CgMove());
            precondition(v.r, v.ms);
            step(CgSums());
            step(CgDirection());
        } else {
            run_cg_steps(step);
        }
    } else {
        multiply(v.mp, v.q);
        step(StabLength());
        step(StabHalf());
        if constexpr (by_function) precondition(v.r, v.ms);
        multiply(v.ms, v.t);
        step(StabOmega());
        step(StabUpdate());
        step(StabDirection());
        if constexpr (by_function) precondition(v.p, v.mp);
    }
}

/// Restarts the method from the current x.
template <typename Value, typename RunStep, typename Multiply, typename Precondition = InSteps>
void begin(KrylovMethod method, const Vectors<Value>& v, const RunStep& step, const Multiply& multiply,
           [[maybe_unused]] const Precondition& precondition = {}) {
    constexpr bool by_function = !std::is_same_v<Precondition, InSteps>;
    multiply(v.x, v.q);
    step(Residual());
    if (method == KrylovMethod::cg) {
        if constexpr (by_function) precondition(v.r, v.ms);
        step(CgBegin());
    } else {
        step(StabBegin());
        if constexpr (by_function) precondition(v.p, v.mp);
    }
}

}  // namespace workbench::krylov
